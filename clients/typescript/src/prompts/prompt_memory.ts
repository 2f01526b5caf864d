/** A memory around the calls of a model: what a call is about to send is kept, and what it sends is made of the memory. */
import type { ObservationalMemory } from "../client.js";
import { InvalidInputError } from "../errors.js";
import { escapeId } from "../ids.js";
import type { ContextBlock, KeptMessage, Place, Synced } from "../types.js";
import { Recent } from "../waiting.js";
import { toWire, unforged, type PromptMessage, type WireMessage } from "./messages.js";
import { cutOf, lacks, messagesOf, notesOf, stayingBefore, type Held, type Notes } from "./view.js";

const THREADS = 256;
const MOST = 2_000; // messages of a history that are sent
const MOST_CHARACTERS = 2 ** 21;

export interface PromptMemoryOptions {
  memory: ObservationalMemory;
  /** Whose memory, where a call does not say so. */
  resourceId?: string | undefined;
  /** Which conversation, where a call does not say so. */
  threadId?: string | undefined;
  /** Leave older messages out of the context above this. */
  maxTokens?: number | undefined;
}

/** One call of a model: what it is sent, and the history that was kept before it. */
export interface Turn {
  prompt: PromptMessage[];
  history: readonly PromptMessage[];
  place: Required<Place>;
}

interface Last {
  notes: Notes;
  cut: number;
  first: string;
}

/** The ids of a thread and a resource that users may have named: each is escaped, so that no two names are one id. */
export function named({ threadId, resourceId }: { threadId?: string | undefined; resourceId?: string | undefined }): Place {
  const idOf = (name: string): string => (name === "." || name === ".." ? name : escapeId(name)); // which the client refuses
  return { ...(threadId ? { threadId: idOf(threadId) } : {}), ...(resourceId ? { resourceId: idOf(resourceId) } : {}) };
}

export class PromptMemory {
  readonly #options: PromptMemoryOptions;
  readonly #last = new Recent<Last>(THREADS);

  constructor(options: PromptMemoryOptions) {
    if (!options.memory) throw new InvalidInputError("memory is missing: pass new ObservationalMemory({ url, key })");
    this.#options = options;
  }

  /** Whose call it is; throws InvalidInputError that says where to name them. */
  place(found: Place, where: string): Required<Place> {
    const { threadId, resourceId } = named({
      threadId: found.threadId ?? this.#options.threadId, resourceId: found.resourceId ?? this.#options.resourceId,
    });
    const missing = [threadId === undefined && "threadId", resourceId === undefined && "resourceId"].filter(Boolean);
    if (threadId !== undefined && resourceId !== undefined) return { threadId, resourceId };
    throw new InvalidInputError(`this call names no ${missing.join(" and no ")}: ${where}`);
  }

  /** Keep what a call is about to send, and answer with what it should send. */
  async begin(prompt: readonly PromptMessage[], place: Required<Place>, signal?: AbortSignal): Promise<Turn> {
    const after = prompt.findIndex((message) => message.role !== "system");
    const system = after < 0 ? prompt : prompt.slice(0, after);
    const messages = after < 0 ? [] : prompt.slice(after);
    const { memory, maxTokens } = this.#options;
    const { held, synced } = await this.#sync(messages, place, signal);
    const asked = { ...place, signal, format: "blocks", ...(maxTokens ? { maxTokens } : {}) } as const;
    const found = await memory.getContext(asked);
    const known = !found.unavailable && !synced.unavailable;
    const [notes, shown] = known ? await this.#view(found.context, held, place, signal) : this.#remembered(held, place);
    return { prompt: [...system, ...notes.before, ...shown, ...notes.after], history: messages, place };
  }

  /** Keep what a model answered. */
  async end({ history, place }: Turn, answer: PromptMessage, signal?: AbortSignal): Promise<void> {
    if (toWire(answer).length) await this.#sync([...history, answer], place, signal);
  }

  async #sync(messages: readonly PromptMessage[], place: Required<Place>, signal: AbortSignal | undefined): Promise<{ held: Held; synced: Synced }> {
    const wire = messages.flatMap((message, n) => (message.role === "system" ? [] : toWire(message).map((each) => ({ each, n }))));
    const sent = wire.slice(startOf(wire.map(({ each }) => each)));
    const synced = await this.#options.memory.sync(sent.map(({ each }) => each), { ...place, ...(signal ? { signal } : {}) });
    const places = new Map(synced.ids.flatMap((id, i) => (id ? [[id, sent[i]!.n] as const] : [])));
    return { held: { messages: messages.map(unforged), places }, synced };
  }

  async #view(blocks: readonly ContextBlock[], held: Held, place: Required<Place>, signal: AbortSignal | undefined): Promise<[Notes, PromptMessage[]]> {
    const raw: KeptMessage[] = lacks(blocks, held) ? await this.#options.memory.messages({ ...place, ...(signal ? { signal } : {}) }) : [];
    const notes = notesOf(blocks);
    const cut = cutOf(blocks, held);
    this.#last.set(keyOf(place), { notes, cut, first: JSON.stringify(held.messages[cut]) });
    return [notes, messagesOf(blocks, held, new Map(raw.map((message) => [message.id, message])))];
  }

  /** While the memory is away: the notes that were read last, and the framework's own messages from where they ended. */
  #remembered({ messages }: Held, place: Required<Place>): [Notes, readonly PromptMessage[]] {
    const last = this.#last.get(keyOf(place));
    if (!last || JSON.stringify(messages[last.cut]) !== last.first) return [last?.notes ?? { before: [], after: [] }, messages];
    return [last.notes, [...stayingBefore(last.cut, messages), ...messages.slice(last.cut)]];
  }
}

function keyOf({ resourceId, threadId }: Required<Place>): string {
  return `${resourceId}|${threadId}`;
}

/** Where the end of a history begins that fits into a request. */
function startOf(messages: readonly WireMessage[]): number {
  let size = 0;
  for (let n = messages.length - 1; n >= 0; n--) {
    size += JSON.stringify(messages[n]).length;
    if (size > MOST_CHARACTERS || messages.length - n > MOST) return n + 1;
  }
  return 0;
}
