/** A Redis client as it is given, node-redis' or ioredis', asked for a command; errors become ours. */
import { InvalidInputError, NotPermittedError, StoreError } from "../errors.js";

export type Word = string | Uint8Array;
/** What of node-redis 5 and 6 is used. */
export interface NodeRedis {
  sendCommand(...given: any[]): Promise<unknown>;
}
/** What of ioredis 5 and 6 is used. */
export interface IoRedis {
  callBuffer(command: string, ...words: any[]): Promise<unknown>;
}
export type RedisClient = NodeRedis | IoRedis;

const AS_BYTES = { 36: Uint8Array }; // RESP's blob strings

export class RedisConnection {
  readonly #client: RedisClient;
  readonly cluster: boolean;

  constructor(client: RedisClient) {
    if (!client || !("callBuffer" in client || "sendCommand" in client)) {
      throw new InvalidInputError("client is none: pass a connected client of redis (node-redis 5 or 6) or of ioredis (5 or 6)");
    }
    this.#client = client;
    this.cluster = (client as { isCluster?: boolean }).isCluster === true || "masters" in client || "slots" in client;
  }

  /** Ask; texts come as bytes. `key` is one that the command names. */
  async ask(key: string, command: string, ...words: Word[]): Promise<unknown> {
    const given = words.map((word) => (typeof word === "string" ? word : bytes(word)));
    try {
      if ("callBuffer" in this.#client) return await this.#client.callBuffer(command, ...given);
      const options = { typeMapping: { 36: (globalThis as { Buffer?: unknown }).Buffer ?? AS_BYTES[36] } };
      if (this.cluster) return await this.#client.sendCommand(key, false, [command, ...given], options);
      return await this.#client.sendCommand([command, ...given], options);
    } catch (error) {
      throw refused(error);
    }
  }
}

/** Bytes as both clients take them. */
function bytes(word: Uint8Array): Uint8Array {
  const made = (globalThis as unknown as { Buffer?: { from(word: Uint8Array): Uint8Array } }).Buffer;
  return made ? made.from(word) : word;
}

/** An error of a client as one of ours; the server's own begin with a word in capitals. */
function refused(error: unknown): Error {
  const text = String((error as Error)?.message ?? error);
  if (/^(NOPERM|NOAUTH|WRONGPASS)/.test(text)) {
    return new NotPermittedError(`the server does not permit it: ${text}. Make the user with \`om acl <resource> --role writer --apply\``, { cause: error });
  }
  const answered = /^[A-Z]{3,}\b/.test(text);
  const advice = answered ? text : `Redis cannot be reached (${text}): repeat the call with the same ids`;
  return new StoreError(advice, { stored: answered ? false : null, cause: error });
}

/** A reply as text. */
export function text(reply: unknown): string {
  return typeof reply === "string" ? reply : new TextDecoder().decode(reply as Uint8Array);
}
