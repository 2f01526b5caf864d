/** Messages that wait in this process for a memory that is away: bounded, and what did not fit is counted. */

import type { MemoryMode } from "./types.js";

export interface Waiting {
  readonly resource: string;
  readonly thread: string;
  readonly message: Record<string, unknown>;
  /** The memory mode that its thread is given with it. */
  readonly memory?: MemoryMode | undefined;
}

const MOST = 1_000;
const MOST_CHARACTERS = 8 * 2 ** 20;

/** The newest messages that could not be sent, oldest first. */
export class Unsent {
  #waiting: { each: Waiting; size: number }[] = [];
  #weight = 0;
  /** How many had no room since this was asked last. */
  dropped = 0;

  get all(): Waiting[] {
    return this.#waiting.map(({ each }) => each);
  }

  /** Have messages wait; those that had to go for it. */
  add(messages: readonly Waiting[]): Waiting[] {
    for (const each of messages) {
      const size = JSON.stringify(each.message).length;
      this.#waiting.push({ each, size });
      this.#weight += size;
    }
    const gone: Waiting[] = [];
    while (this.#waiting.length > MOST || this.#weight > MOST_CHARACTERS) {
      const { each, size } = this.#waiting.shift()!;
      this.#weight -= size;
      gone.push(each);
    }
    this.dropped += gone.length;
    return gone;
  }

  /** Forget what waits no longer; returns it, without what another call has forgotten meanwhile. */
  forget(messages: readonly Waiting[]): Waiting[] {
    const named = new Set(messages);
    const gone = this.all.filter((each) => named.has(each));
    this.#waiting = this.#waiting.filter(({ each }) => !named.has(each));
    this.#weight = this.#waiting.reduce((sum, { size }) => sum + size, 0);
    return gone;
  }
}

/** A map that forgets what was set longest ago. */
export class Recent<Value> {
  readonly #held = new Map<string, Value>();

  constructor(readonly most: number) {}

  get(key: string): Value | undefined {
    return this.#held.get(key);
  }

  set(key: string, value: Value): void {
    this.#held.delete(key);
    this.#held.set(key, value);
    if (this.#held.size > this.most) this.#held.delete(this.#held.keys().next().value as string);
  }
}
