/** Ids of resources, threads and messages, as the memory takes them. */
import { InvalidInputError } from "./errors.js";

const ID = /^[A-Za-z0-9._:@+-]{1,200}$/;

/** An id that may stand in a path or a key; throws InvalidInputError naming `what` it was meant for. */
export function checkedId(value: unknown, what: string): string {
  if (typeof value === "string" && ID.test(value) && value !== "." && value !== "..") return value;
  const shown = value === undefined ? "is missing" : `${JSON.stringify(String(value).slice(0, 80))} is not an id`;
  throw new InvalidInputError(`${what} ${shown}: use 1 to 200 of A-Z a-z 0-9 . _ : @ + - (and not "." or "..")`);
}

/** A new id: hard to guess, unlike any other. */
export function newId(): string {
  return crypto.randomUUID();
}
