/** Observational memory over HTTP: see README.md. */
export { ObservationalMemory, type AddOptions, type ContextOptions } from "./client.js";
export type { EventOptions } from "./events.js";
export * from "./errors.js";
export { escapeId, newId, unescapeId } from "./ids.js";
export type * from "./types.js";
