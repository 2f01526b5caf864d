/** The values of the API by short names; what is sent and answered is generated from its OpenAPI document. */
import type { components, operations } from "./generated/api.js";

type Schemas = components["schemas"];
type Query<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;

/**
 * What became of messages that were added.
 *
 * With `failOpen`, while the memory is away: `held` wait in this process and are sent later; `dropped` had no room and are lost.
 */
export type Receipt = Schemas["Added"] & { held?: string[]; dropped?: string[] };
/** What became of a history that was synced. */
export type Synced = Schemas["SyncedHistory"] & { unavailable?: true };
/** What happens where a history replaces stored messages. */
export type Diverged = NonNullable<Schemas["GivenHistory"]["diverged"]>;
/** Whether a thread leaves memory, and whether its contexts show it. */
export type MemoryMode = NonNullable<Schemas["ThreadState"]["memory"]>;
export type ContextBlock = Schemas["ContextBlock"];
export type KeptMessage = Schemas["KeptMessage"];
export type Recalled = Schemas["RecallAnswer"];
export type RecallHit = Schemas["RecallHit"];
export type Around = Schemas["MessageAround"];
export type Generation = Schemas["Generation"];
export type NoteGroup = Schemas["NoteGroup"];
export type Forced = Schemas["Forced"];
export type Observation = Schemas["Observation"];
export type Thread = Schemas["ThreadState"];
export type WorkingMemory = Schemas["WorkingMemory"];
export type WorkingChange = Schemas["WorkingChange"];
export type Extracted = Record<string, Schemas["ExtractedValue"]>;
export type HookState = Schemas["HookState"];
export type ThreadChange = Schemas["ThreadChange"];
export type Copied = Schemas["Copied"];
export type Alias = Schemas["Alias"];
export type Aliased = Schemas["Aliased"];
export type Event = Schemas["Event"];
/** What was redacted of a memory, or would be: how often by kind, and in how many places of each tier. */
export type Redacted = Schemas["OldText"];
export type Stats = Schemas["Stats"];
export type RecallOptions = Omit<Query<"recall">, "q" | "thread_id" | "max_tokens"> & { maxTokens?: number };

interface Rendered {
  text: Schemas["TextContext"];
  openai: Schemas["OpenAIContext"];
  openai_responses: Schemas["OpenAIResponsesContext"];
  anthropic: Schemas["AnthropicContext"];
  gemini: Schemas["GeminiContext"];
  blocks: Schemas["BlocksContext"];
}
export type Format = keyof Rendered;
/** A context; `unavailable`: the memory could not be reached, and this is what was read last. */
export type Context<F extends Format = Format> = Rendered[F] & { unavailable?: true };

/**
 * A message as you have it: ours, or as OpenAI, Anthropic or Gemini take and return it, as it is.
 *
 * `threadId` and `resourceId` may stand in it or in the options of the call. One without an `id` gets one before it is first sent.
 */
export type Message = object;

/** Whose memory, and which conversation; what is left out is the client's own. */
export interface Place {
  threadId?: string;
  resourceId?: string;
}

export interface Call {
  /** Ends the call, and its repetitions. */
  signal?: AbortSignal | undefined;
}

export interface Options {
  /** Where `om api` serves, such as `http://127.0.0.1:8000`. */
  url: string;
  /** What `om keys create` printed; without one only a server started `--without-keys` answers. */
  key?: string | undefined;
  /** Whose memory, where a call does not say so. */
  resourceId?: string | undefined;
  /** The longest that a call takes, its repetitions included; 10,000 unless you say otherwise. */
  timeoutMs?: number | undefined;
  /** How often a call is repeated, with the same ids, where that may help; 8 unless you say otherwise. */
  retries?: number | undefined;
  /** Go on while the memory is away: messages wait in this process, contexts are what was read last. */
  failOpen?: boolean | undefined;
  /** Told once when the memory goes away, and of messages that had no room; `console.warn` unless you say otherwise. */
  onWarning?: ((message: string) => void) | undefined;
  /** The span that is being done, as W3C's header has it, asked before each request: what the memory does stands under it. */
  traceparent?: (() => string | undefined) | undefined;
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch | undefined;
}
