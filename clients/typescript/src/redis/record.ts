/** What the store keeps of an id: 16 bytes by which a message is known again. docs/redis-protocol.md, "The push script", says it in words. */
import { InvalidInputError } from "../errors.js";

export interface Part {
  type: string;
  [name: string]: unknown;
}

const LONGEST = 2 ** 24 - 1;
const encoder = new TextEncoder();
const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

/** The CRC-32 of zlib. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRC[(crc ^ byte) & 0xff]!;
  return (crc ^ 0xffffffff) >>> 0;
}

/** Role and content as bytes, of which those of a beginning are the beginning. */
export function canonical(role: string, content: string | readonly Part[]): Uint8Array {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const pieces = parts.map((part) => {
    if (part.type !== "text") return `\0j${sortedJson(part)}`;
    return part["text"] ? `\0t${String(part["text"])}` : "";
  });
  return encoder.encode(`${role}\n${pieces.join("")}`);
}

/** The record of a message that is raw: 7 bytes of its id's SHA-1, 2 of the day (0), 3 of the length, 4 of the CRC-32. */
export async function recordOf(id: string, said: Uint8Array): Promise<Uint8Array> {
  const record = new Uint8Array(16);
  record.set(new Uint8Array(await crypto.subtle.digest("SHA-1", encoder.encode(id))).subarray(0, 7));
  const view = new DataView(record.buffer), length = Math.min(said.length, LONGEST);
  record[9] = length >>> 16;
  view.setUint16(10, length & 0xffff);
  view.setUint32(12, crc32(said));
  return record;
}

/** Whether what comes says more than what is known under its id, which is its beginning. */
export function goesOn(known: Uint8Array, said: Uint8Array): boolean {
  const view = new DataView(known.buffer, known.byteOffset, 16);
  const length = known[9]! * 65_536 + view.getUint16(10);
  return length < said.length && length < LONGEST && crc32(said.subarray(0, length)) === view.getUint32(12);
}

/** JSON with the names of objects in the order of their code points, and nothing between. */
export function sortedJson(value: unknown): string {
  if (typeof value === "number" && !isPlain(value)) {
    throw new InvalidInputError(`the number ${value} is written in several ways: pass it as a text`);
  }
  if (Array.isArray(value)) return `[${value.map((each) => sortedJson(each ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  entries.sort(([a], [b]) => byCodePoint(a, b));
  return `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${sortedJson(each)}`).join(",")}}`;
}

/** Whether every language writes a number alike: whole ones that are exact, and others of a middling size. */
function isPlain(value: number): boolean {
  const size = Math.abs(value);
  return Number.isSafeInteger(value) || (size >= 1e-3 && size < 1e15);
}

function byCodePoint(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let n = 0; n < Math.min(left.length, right.length); n++) {
    const apart = left[n]!.codePointAt(0)! - right[n]!.codePointAt(0)!;
    if (apart) return apart;
  }
  return left.length - right.length;
}
