/** How text of messages is kept from opening or closing the tags that hold the parts of a memory. */
import { TAGS } from "../generated/tags.js";

const UNSEEN = String.raw`\p{Default_Ignorable_Code_Point}\x00-\x08\x0e-\x1f\x7f-\x9f`;
const NAMES = TAGS.map((tag) => [...tag].join(`[${UNSEEN}]*`)).join("|");
const OPENS = new RegExp(String.raw`<(?=[\s/${UNSEEN}]*(?:${NAMES})(?![\p{L}\p{N}_.:\-]))`, "giu");

/** The text with every `<` that would open or close one of our tags written as `&lt;`. */
export function escape(text: string): string {
  return text.includes("<") ? text.replace(OPENS, "&lt;") : text;
}

/** The same of every text in a value of JSON; what is no JSON, such as bytes and addresses, stays. */
export function escapedAll(value: unknown): unknown {
  if (typeof value === "string") return escape(value);
  if (Array.isArray(value)) return value.map(escapedAll);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof URL) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, escapedAll(each)]));
}
