/** Ids of resources, threads and messages, as the memory takes them. */
import { InvalidInputError } from "./errors.js";

const ID = /^[A-Za-z0-9._:@+-]{1,200}$/, LONGEST = 200;
const FOREIGN = /[^A-Za-z0-9._:@+-]|\+(?=_[0-9A-F]{2})/gu;

/** An id that may stand in a path or a key; throws InvalidInputError naming `what` it was meant for. */
export function checkedId(value: unknown, what: string): string {
  if (isId(value)) return value;
  const shown = value === undefined ? "is missing" : `${JSON.stringify(String(value).slice(0, 80))} is not an id`;
  throw new InvalidInputError(`${what} ${shown}: use 1 to 200 of A-Z a-z 0-9 . _ : @ + - (and not "." or "..")`);
}

/**
 * The id of a resource or a thread by any name: an id as it is, any other text escaped, but for "", "." and "..".
 *
 * So `auth0+_7C1` is the id of the name `auth0|1`. Names that people choose go through `escapeId` first: adapters do that.
 */
export function namedId(value: unknown, what: string): string {
  return typeof value === "string" && !["", ".", ".."].includes(value) && !isId(value) ? escapeId(value) : checkedId(value, what);
}

/**
 * The id of any text: `auth0|1` is `auth0+_7C1`. No two texts have one id; most ids are their own.
 *
 * Throws InvalidInputError for an empty text, and where the id would be longer than 200 characters.
 */
export function escapeId(text: string): string {
  const found = written(text);
  if (found === "") throw new InvalidInputError("an id must not be empty: name a resource or thread");
  if (found.length > LONGEST) throw new InvalidInputError(`id ${JSON.stringify(text.slice(0, 80))} is too long: ${found.length} characters when escaped (maximum ${LONGEST})`);
  return found;
}

/** The text that `escapeId` made an id of; an id that it did not make as it is. */
export function unescapeId(id: string): string {
  const bytes = new TextEncoder().encode(id), found: number[] = [];
  for (let n = 0; n < bytes.length; n++) {
    const hex = /^\+_([0-9A-F]{2})$/.exec(String.fromCharCode(...bytes.subarray(n, n + 4)));
    found.push(hex ? parseInt(hex[1]!, 16) : bytes[n]!);
    if (hex) n += 3;
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(found));
  return written(text) === id ? text : id;
}

/** A new id: hard to guess, unlike any other. */
export function newId(): string {
  return crypto.randomUUID();
}

function written(text: string): string {
  return text === "." || text === ".." ? [...text].map(escaped).join("") : text.replace(/\p{Surrogate}/gu, "\ufffd").replace(FOREIGN, escaped);
}

function isId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value) && value !== "." && value !== "..";
}

function escaped(character: string): string {
  return [...new TextEncoder().encode(character)].map((byte) => `+_${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
