/** Messages as a writer sends them: checked, with an id, a time and a count of tokens. */
import { InvalidInputError } from "../errors.js";
import { checkedId, newId } from "../ids.js";
import type { Message } from "../types.js";
import { canonical, recordOf, type Part } from "./record.js";

const ROLES = ["user", "assistant", "system", "tool"];
const PARTS = ["text", "tool-call", "tool-result", "image", "file"];
const MOST_BYTES = 1_048_576;
const TURN = 4; // tokens that a turn weighs besides what it says

/** A message, ready to be sent. */
export interface Encoded {
  id: string;
  member: string;
  score: number;
  tokens: number;
  said: Uint8Array;
  record: Uint8Array;
}

/** Times in ms: each is behind the one before it, so that messages stay in the order they came. */
export class Clock {
  #last = 0;

  next(): number {
    this.#last = Math.max(Date.now(), this.#last + 1);
    return this.#last;
  }
}

/** A message of our own form, for the push script; throws InvalidInputError for a vendor's, which `pushPlain` takes. */
export async function encoded(given: Message, clock: Clock, count: (text: string) => number): Promise<Encoded> {
  const message = named(given);
  const { id, role, content } = message as { id: string; role: string; content: string | Part[] };
  if (!isOurs(role, content, message)) {
    throw new InvalidInputError(`message ${id} is not of our form (role, and content of text or of our parts): pushPlain takes what vendors write`);
  }
  const said = canonical(role, content);
  const score = msOf(message["timestamp"]) ?? clock.next();
  const tokens = typeof message["tokens"] === "number" ? message["tokens"] : TURN + count(new TextDecoder().decode(said));
  const member = jsonOf({ timestamp: score, ...message, tokens });
  return { id, member, score, tokens, said, record: await recordOf(id, said) };
}

/** A message in any form that the memory reads, for the two plain commands. */
export function plain(given: Message, clock: Clock): { id: string; member: string; score: number } {
  const message = named(given);
  return { id: String(message["id"]), member: jsonOf(message), score: msOf(message["timestamp"]) ?? clock.next() };
}

/** About as many tokens as a text has: a fourth of its bytes. */
export function estimate(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / 4);
}

function named(given: Message): Record<string, unknown> {
  if (typeof given !== "object" || given === null) throw new InvalidInputError("a message is an object: pass {role, content}");
  const { threadId: _thread, resourceId: _resource, id, ...message } = given as Record<string, unknown>;
  return wellFormed({ id: id === undefined ? newId() : checkedId(id, "a message's id"), ...message });
}

/** The message with U+FFFD in the place of lone surrogates; JSON.stringify writes an escape only for these. */
function wellFormed(message: Record<string, unknown>): Record<string, unknown> {
  return jsonOf(message).includes("\\ud") ? (replaced(message) as Record<string, unknown>) : message;
}

function replaced(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/\p{Surrogate}/gu, "\ufffd");
  if (Array.isArray(value)) return value.map(replaced);
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [replaced(name), replaced(each)]));
}

function isOurs(role: unknown, content: unknown, message: Record<string, unknown>): boolean {
  const parts = typeof content === "string" ? [] : content;
  const ours = (part: Part | null) => typeof part === "object" && part !== null && PARTS.includes(part.type) && (part.type !== "text" || typeof part["text"] === "string");
  return ROLES.includes(role as string) && Array.isArray(parts) && parts.every(ours) && !message["tool_calls"] && !message["tool_call_id"];
}

function jsonOf(message: Record<string, unknown>): string {
  let json: string;
  try {
    json = JSON.stringify(message);
  } catch (error) {
    throw new InvalidInputError(`message ${String(message["id"])} is no JSON: ${(error as Error).message.split("\n")[0]}`, { cause: error });
  }
  if (new TextEncoder().encode(json).length > MOST_BYTES) throw new InvalidInputError(`message ${String(message["id"])} takes more than ${MOST_BYTES} bytes: split it`);
  return json;
}

/** A time as ms: Unix time of any unit, a Date, ISO 8601; undefined for none. */
function msOf(said: unknown): number | undefined {
  if (said === undefined || said === null) return undefined;
  const at = said instanceof Date ? said.getTime() : typeof said === "number" ? unixMs(said) : Date.parse(String(said));
  if (Number.isFinite(at) && at > 0) return Math.round(at);
  throw new InvalidInputError(`timestamp ${JSON.stringify(said)} is neither ISO 8601 nor Unix time`);
}

function unixMs(n: number): number {
  return n < 1e11 ? n * 1e3 : n < 1e14 ? n : n < 1e17 ? n / 1e3 : n / 1e6;
}
