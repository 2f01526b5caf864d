/** Writing to Redis without HTTP, for swarms whose agents reach the store: by two plain commands, or by the library's own script. */
import { InvalidInputError, NotPermittedError, StoreError } from "./errors.js";
import { PUSH, PUSH_ON_CLUSTER } from "./generated/scripts.js";
import { namedId } from "./ids.js";
import { RedisConnection, text, type RedisClient, type Word } from "./redis/connection.js";
import { Clock, encoded, estimate, plain, type Encoded } from "./redis/encoding.js";
import { crc32, goesOn } from "./redis/record.js";
import type { Message, Place } from "./types.js";

export type { IoRedis, NodeRedis, RedisClient } from "./redis/connection.js";
export * from "./errors.js";

const BATCH = 500;
const TRIES = 4;
const FIRST_PAUSE_MS = 100;

export interface RedisWriterOptions extends Place {
  /** `storage.redis.prefix` of the workers' settings. */
  prefix?: string;
  /** `scope` of the workers' settings; what is stored goes first. */
  scope?: "resource" | "thread";
  /** Tokens of a text; about a fourth of its bytes unless you have a tokenizer. A message's own `tokens` go first. */
  count?: (text: string) => number;
}

/** What became of messages that were pushed by the script. */
export interface Pushed {
  ids: string[];
  /** How many were new; by plain commands, how many did not stand there raw, with the same `timestamp`: one without its own counts as new. */
  added: number;
  /** Those that were kept before, as they are. */
  duplicates: string[];
  /** Those that say more than was kept: the workers take the rest. */
  grown: string[];
  /** Those that say something else under a known id: they were not kept. */
  changed: string[];
}

/** A writer over a client of yours; calls may be repeated with the same ids. Contexts are read over HTTP, or as the protocol's page says. */
export class RedisWriter {
  readonly #redis: RedisConnection;
  readonly #options: RedisWriterOptions;
  readonly #prefix: string;
  readonly #clock = new Clock();
  #partitions: number | undefined;

  constructor(client: RedisClient, options: RedisWriterOptions = {}) {
    this.#redis = new RedisConnection(client);
    this.#options = options;
    this.#prefix = options.prefix ?? "cortex:om";
    if (!/^[A-Za-z0-9._:-]+$/.test(this.#prefix)) throw new InvalidInputError("prefix must be of A-Z a-z 0-9 . _ : - as in the workers' settings");
  }

  /**
   * Keep messages of a thread by two plain commands, in any form that the memory reads; returns their ids.
   *
   * They are counted when the workers come by, seconds later. What cannot be read is not refused, but found by `om rejected`.
   */
  async pushPlain(messages: readonly Message[], options: Place = {}): Promise<string[]> {
    const { resource, thread } = this.#place(options);
    const ready = messages.map((message) => plain(message, this.#clock));
    await this.#pushPlainly(ready, resource, thread);
    return ready.map(({ id }) => id);
  }

  /**
   * Keep messages of a thread as the library does: counted at once, known again, and due as soon as enough is raw.
   *
   * Their form is ours: text, or parts. A server that has not the script, for a user who may bring none, gets the plain commands.
   */
  async push(messages: readonly Message[], options: Place = {}): Promise<Pushed> {
    const { resource, thread } = this.#place(options);
    const ready = await Promise.all(messages.map((message) => encoded(message, this.#clock, this.#options.count ?? estimate)));
    const all: Pushed = { ids: [], added: 0, duplicates: [], grown: [], changed: [] };
    for (let start = 0; start < ready.length; start += BATCH) {
      await this.#pushBatch(ready.slice(start, start + BATCH), resource, thread, all);
    }
    return all;
  }

  async #pushBatch(some: readonly Encoded[], resource: string, thread: string, all: Pushed): Promise<void> {
    let reply = await patiently(() => this.#run(some, resource, thread));
    for (let n = 0; reply && text(reply[1]) === "!alias"; n++) {
      if (n === TRIES) throw new StoreError(`thread ${thread} of ${resource} stands for ever other threads: repeat`, { stored: false });
      const stands = text(reply[3]);
      reply = await patiently(() => this.#run(some, resource, stands));
      thread = stands;
    }
    all.ids.push(...some.map(({ id }) => id));
    if (!reply) {
      all.added += await this.#pushPlainly(some, resource, thread);
      return;
    }
    const [now, due, ...known] = reply;
    all.added += some.length - known.length / 2;
    const grown: Encoded[] = [];
    for (let n = 0; n < known.length; n += 2) {
      const each = some[Number(known[n])]!, record = known[n + 1] as Uint8Array;
      if (record.length === 0) all.duplicates.push(each.id);
      else if (goesOn(record, each.said)) grown.push(each);
      else all.changed.push(each.id);
    }
    all.grown.push(...grown.map(({ id }) => id));
    if (grown.length) await this.#pushPlainly(grown, resource, thread);
    if (this.#redis.cluster) await this.#mark(text(due), Number(now));
  }

  /** Run the script; undefined where the server has none and this user may bring none. */
  async #run(some: readonly Encoded[], resource: string, thread: string): Promise<unknown[] | undefined> {
    const script = this.#redis.cluster ? PUSH_ON_CLUSTER : PUSH;
    for (;;) {
      const [keys, words] = await this.#call(some, resource, thread);
      try {
        return (await this.#redis.ask(keys[0]!, "EVALSHA", script.sha, String(keys.length), ...keys, ...words)) as unknown[];
      } catch (error) {
        const said = (error as Error).message;
        if (said.includes("WRONGTYPE") && (await this.#learn()) !== undefined) continue;
        if (!said.startsWith("NOSCRIPT")) throw error;
        try {
          return (await this.#redis.ask(keys[0]!, "EVAL", script.source, String(keys.length), ...keys, ...words)) as unknown[];
        } catch (refused) {
          if (refused instanceof NotPermittedError) return undefined;
          throw refused;
        }
      }
    }
  }

  async #call(some: readonly Encoded[], resource: string, thread: string): Promise<[string[], Word[]]> {
    const base = `${this.#prefix}:{${resource}}`, pace = `${base}:pace`, cluster = this.#redis.cluster;
    const due = cluster ? `${base}:tokens` : await this.#part("due:observe", resource);
    const keys = [`${base}:tokens`, due, pace, pace, `${base}:messages:${thread}`, `${base}:known:${thread}`];
    if (cluster) keys.push(`${base}:tokens:absent`);
    const scope = await this.#scope(resource);
    const words: Word[] = [cluster ? "0" : "1", scope, resource, signingKey(), "", thread, `${resource}|${thread}`, "-", String(some.length)];
    return [keys, [...words, ...some.flatMap((each) => [String(each.score), each.member, each.record, String(each.tokens)])]];
  }

  async #pushPlainly(ready: readonly { member: string; score: number }[], resource: string, thread: string): Promise<number> {
    let added = 0;
    const key = `${this.#prefix}:{${resource}}:messages:${thread}`, adopt = `${this.#prefix}:adopt`;
    for (let start = 0; start < ready.length; start += BATCH) {
      const words = ready.slice(start, start + BATCH).flatMap(({ score, member }) => [String(score), member]);
      added += Number(await patiently(() => this.#redis.ask(key, "ZADD", key, "NX", ...words)));
    }
    if (ready.length) await patiently(() => this.#redis.ask(adopt, "ZADD", adopt, "0", key));
    return added;
  }

  /** Mark scopes due, where the script could not; what is not marked is found by the workers' sweep. */
  async #mark(due: string, now: number): Promise<void> {
    for (const name of due.split(" ").filter(Boolean)) {
      const index = await this.#part("due:observe", name.split("|")[0]!);
      await this.#redis.ask(index, "ZADD", index, "LT", String(now), name).catch(() => undefined);
    }
  }

  /** The part of an index that a resource stands in. */
  async #part(index: string, resource: string): Promise<string> {
    const count = this.#partitions ?? (await this.#learn()) ?? 1, name = `${this.#prefix}:${index}`;
    return count === 1 ? name : `${name}:${count}:${crc32(new TextEncoder().encode(resource)) % count}`;
  }

  /** How many parts there are; undefined where that is what was known before. */
  async #learn(): Promise<number | undefined> {
    const [before, key] = [this.#partitions, `${this.#prefix}:partitions`];
    const said = await this.#redis.ask(key, "GET", key);
    this.#partitions = said === null ? 1 : (JSON.parse(text(said)) as { count: number }).count;
    return this.#partitions === before ? undefined : this.#partitions;
  }

  async #scope(resource: string): Promise<string> {
    const key = `${this.#prefix}:{${resource}}:scope`;
    const said = await this.#redis.ask(key, "GET", key);
    return said === null ? (this.#options.scope ?? "resource") : text(said);
  }

  #place(options: Place): { resource: string; thread: string } {
    const resource = namedId(options.resourceId ?? this.#options.resourceId, "resourceId");
    return { resource, thread: namedId(options.threadId ?? this.#options.threadId, "threadId") };
  }
}

/** 16 random bytes in hex: what a new memory signs its contexts with. */
function signingKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Ask, and again with the same ids where the reply was lost or the server is starting. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await ask();
    } catch (error) {
      const passes = error instanceof StoreError && (error.stored === null || /^(LOADING|TRYAGAIN|CLUSTERDOWN|READONLY)/.test(error.message));
      if (!passes || n >= TRIES) throw error;
      await new Promise((done) => setTimeout(done, FIRST_PAUSE_MS * 2 ** n * (0.5 + Math.random() / 2)));
    }
  }
}
