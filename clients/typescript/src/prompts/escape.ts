/** How text of messages is kept from opening or closing the tags that hold the parts of a memory. */
import { COMPARED, GENERIC, TAG } from "../generated/tags.js";

/** The text with every `<` that would open or close one of our tags written as `&lt;`; code such as `List<Task>` stays. */
export function escape(text: string): string {
  return text.replace(TAG, (bracket, at: number) => (isCode(text, at + bracket.length) ? bracket : "&lt;"));
}

function isCode(text: string, at: number): boolean {
  return [GENERIC, COMPARED].some((pattern) => {
    pattern.lastIndex = at;
    return pattern.test(text);
  });
}

/** The same of every text in a value of JSON; what is no JSON, such as bytes and addresses, stays. */
export function escapedAll(value: unknown): unknown {
  if (typeof value === "string") return escape(value);
  if (Array.isArray(value)) return value.map(escapedAll);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof URL) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, escapedAll(each)]));
}
