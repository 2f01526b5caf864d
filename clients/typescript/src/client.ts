/** The memory as an agent has it. */
import { InvalidInputError, NotPermittedError, OMError, StoreError } from "./errors.js";
import { eventsOf, type EventOptions } from "./events.js";
import { RECALL_TOOLS } from "./generated/recall_tool.js";
import { checkedId, namedId, newId } from "./ids.js";
import { LastContexts } from "./last_contexts.js";
import { type Asked, Transport, encoded } from "./transport.js";
import type {
  Alias, Aliased, Around, Call, Context, Copied, Diverged, Event, Forced, Format, Generation, KeptMessage, MemoryMode, Message, Observation, Options, Place, Recalled,
  Extracted, HookState, NoteGroup, RecallOptions, Receipt, Redacted, Stats, Synced, Thread, ThreadChange, WorkingChange, WorkingMemory,
} from "./types.js";
import { Unsent, type Waiting } from "./waiting.js";

const BATCH = 500; // messages of a request
const BATCH_CHARACTERS = 2 ** 21; // of JSON, of which one takes 3 bytes at most
const LONGEST_WAIT_S = 60;

export interface AddOptions extends Place, Call {
  /** Let a message take the place of the raw one of its id that says something else; it never waits for a memory that is away. */
  replace?: boolean;
  /** Set the memory mode of the threads that the messages are of, before they are added. */
  memory?: MemoryMode;
}

export interface ContextOptions<F extends Format> extends Place, Call {
  threadId: string;
  /** Whose request it is for; `openai` unless you say otherwise. */
  format?: F;
  /** Leave older messages out above this. */
  maxTokens?: number;
  /** Other resources whose notes stand in it too, beside what the setting `compose` names. */
  also?: readonly string[];
  /** The agent's own model that it is for, whose prompt cache is heeded; `actor_model` unless you say otherwise. */
  model?: string;
}

/**
 * A memory over HTTP. It needs only `fetch`, and runs wherever that is: Node, Deno, Bun, Workers, browsers.
 *
 * Every call throws OMError, or what its `signal` was aborted with. Writes are repeated with the same ids, so none is kept twice.
 */
export class ObservationalMemory {
  readonly #transport: Transport;
  readonly #resourceId: string | undefined;
  readonly #failOpen: boolean;
  readonly #warn: (message: string) => void;
  readonly #unsent = new Unsent();
  readonly #last = new LastContexts();
  #away = false;
  #full = false;

  constructor(options: Options) {
    this.#transport = new Transport(options);
    this.#resourceId = options.resourceId === undefined ? undefined : namedId(options.resourceId, "resourceId");
    this.#failOpen = options.failOpen ?? false;
    this.#warn = options.onWarning ?? ((message) => console.warn(`cortex-om: ${message}`));
  }

  /** Whether the memory goes on while it cannot be reached. */
  get failsOpen(): boolean {
    return this.#failOpen;
  }

  /** Keep one message. */
  addMessage(message: Message, options: AddOptions = {}): Promise<Receipt> {
    return this.addMessages([message], options);
  }

  /**
   * Keep messages, oldest first, as you have them: ours, OpenAI's, Anthropic's, Gemini's.
   *
   * More than fit into a request are sent in several: should a later one fail, `stored` of its StoreError is null.
   */
  async addMessages(messages: readonly Message[], options: AddOptions = {}): Promise<Receipt> {
    const ready = this.#ready(messages, options);
    if (!this.#failOpen || options.replace) return (await this.#sent(ready, options)).receipt;
    try {
      const receipt = await this.#sentAfterThoseThatWait(ready, options);
      this.#said(ready);
      return receipt;
    } catch (error) {
      this.#lost(error);
      const at = Date.now();
      const gone = this.#unsent.add(ready.map((each) => ({ ...each, message: { timestamp: at, ...each.message } })));
      this.#said(ready);
      if (this.#unsent.dropped) this.#tellDropped();
      const receipt = receiptOf(ready), waiting = new Set(this.#unsent.all.map(({ message }) => String(message["id"])));
      return { ...receipt, held: receipt.ids.filter((id) => waiting.has(id)), dropped: gone.map(({ message }) => String(message["id"])) };
    }
  }

  /**
   * Add what is new of a thread's whole history, as you hold it, with ids or without.
   *
   * Where it replaces stored messages, as after an edit, an undo or a new answer, `diverged` says what happens: "follow" (the
   * default) retracts these, "copy" continues in a copy of the thread, whose id is `thread_id`, "keep" adds what is new beside them.
   *
   * `memory` sets the thread's memory mode first. While the memory is away and it fails open, nothing waits: the next sync brings it all.
   */
  async sync(messages: readonly Message[], options: Place & Call & { diverged?: Diverged; memory?: MemoryMode } = {}): Promise<Synced> {
    const { resource, thread } = this.#place(options);
    try {
      if (this.#unsent.all.length) await this.#sentAfterThoseThatWait([], options);
      const { diverged, memory } = options;
      const body = { messages: messages.map(bare), ...(diverged ? { diverged } : {}), ...(memory ? { memory } : {}) };
      const found = await this.#transport.json<Synced>(`${pathOf(resource, thread)}/sync`, { method: "POST", body, ...this.#call(options) });
      this.#away = false;
      return found;
    } catch (error) {
      if (!this.#failOpen) throw error;
      this.#lost(error);
      const ids = messages.map((message) => String((message as { id?: unknown }).id ?? ""));
      return { ids, added: 0, known: 0, grown: [], changed: [], diverged_at: null, retracted: [], restored: [], thread_id: thread, ahead: [], ahead_ms: 0, cut: [], unavailable: true };
    }
  }

  /** The agent's whole memory for a thread, as a provider's request takes it. No model is waited for. */
  async getContext<F extends Format = "openai">(options: ContextOptions<F>): Promise<Context<F>> {
    const { resource, thread } = this.#place(options);
    const format = options.format ?? ("openai" as F);
    const also = (options.also ?? []).map((name) => namedId(name, "also"));
    const query = { format, max_tokens: options.maxTokens, also, model: options.model };
    const [key, said] = [placed(resource, thread), this.#last.count(placed(resource, thread))];
    try {
      if (this.#unsent.all.length) await this.#sentAfterThoseThatWait([], options);
      const found = await this.#transport.json<Context<F>>(`${pathOf(resource, thread)}/context`, { query, ...this.#call(options) });
      if (this.#failOpen) this.#last.read(key, found, said, also);
      this.#away = false;
      return found;
    } catch (error) {
      if (!this.#failOpen) throw error;
      this.#lost(error);
      return this.#last.of(key, format, also) as Context<F>;
    }
  }

  /** Look up what was said before by its words, in every thread and tier, the best hit first. */
  async recall(query: string, options: RecallOptions & Place & Call = {}): Promise<Recalled> {
    const { signal, resourceId, threadId, maxTokens, ...limits } = options;
    const asked = { ...limits, thread_id: threadId, max_tokens: maxTokens, q: query };
    return this.#transport.json(`${this.#of(resourceId)}/recall`, { query: asked, signal });
  }

  /** A message of the past with the turns around it; page on from either end. */
  async browse(messageId: string, options: { before?: number; after?: number } & Place & Call = {}): Promise<Around> {
    const { signal, resourceId, threadId, ...turns } = options;
    const path = `${this.#of(resourceId)}/messages/${encodeURIComponent(checkedId(messageId, "messageId"))}/around`;
    return this.#transport.json(path, { query: { ...turns, thread_id: threadId }, signal });
  }

  /** The tool by which a model looks up the past, as a provider's list of tools takes it. */
  recallTool<F extends keyof typeof RECALL_TOOLS = "openai">(format: F = "openai" as F): (typeof RECALL_TOOLS)[F] {
    return structuredClone(RECALL_TOOLS[format]);
  }

  /**
   * Answer a model's call of the tool, as its vendor gave it, or its arguments alone: the text to hand back.
   *
   * `threadId` is the thread that the model is in: if its contexts start without memory, only its own messages are searched.
   */
  async answerRecall(call: object, options: { maxTokens?: number; also?: readonly string[] } & Place & Call = {}): Promise<string> {
    const query = { thread_id: options.threadId, max_tokens: options.maxTokens, also: options.also };
    const asked = { method: "POST", body: call, query, signal: options.signal } as const;
    return (await this.#transport.json<{ text: string }>(`${this.#of(options.resourceId)}/recall-tool`, asked)).text;
  }

  /** The threads of a resource, by name or those first that were heard of last; archived ones where they are asked for. */
  async threads(options: { order?: "name" | "activity"; archived?: "no" | "yes" | "all" } & Place & Call = {}): Promise<Thread[]> {
    return this.#every(`${this.#of(options.resourceId)}/threads`, { order: options.order, archived: options.archived }, options);
  }

  /** Give a thread a title (none: one is suggested again), metadata or a memory mode, or hide it until it gets a message. */
  async setThread(change: ThreadChange, options: Place & Call = {}): Promise<Thread> {
    const { resource, thread } = this.#place(options);
    return this.#transport.json(pathOf(resource, thread), { method: "PATCH", body: change, ...this.#call(options) });
  }

  /** Make a thread that reads as another does up to a message, and goes on by itself. */
  async copyThread(to: string, options: { until?: string; toResource?: string } & Place & Call = {}): Promise<Copied> {
    const { resource, thread } = this.#place(options);
    const body = { to, ...(options.until === undefined ? {} : { until: options.until }), ...(options.toResource === undefined ? {} : { to_resource: options.toResource }) };
    return this.#transport.json(`${pathOf(resource, thread)}/copies`, { method: "POST", body, ...this.#call(options) });
  }

  /** The names that stand for threads. */
  async threadAliases(options: { resourceId?: string } & Call = {}): Promise<Alias[]> {
    return this.#every(`${this.#of(options.resourceId)}/aliases`, {}, options);
  }

  /** Have a name stand for the thread: whatever is written to or read of it is the thread's from then on. */
  async aliasThread(alias: string, options: Place & Call = {}): Promise<Aliased> {
    const { resource, thread } = this.#place(options);
    const path = `${this.#of(resource)}/aliases/${encodeURIComponent(namedId(alias, "alias"))}`;
    return this.#transport.json(path, { method: "PUT", body: { thread_id: thread }, ...this.#call(options) });
  }

  /** End an alias: `cleared`, or `rest` where it was none. What came by it stays with the thread. */
  async unaliasThread(alias: string, options: { resourceId?: string } & Call = {}): Promise<{ outcome: string }> {
    const path = `${this.#of(options.resourceId)}/aliases/${encodeURIComponent(namedId(alias, "alias"))}`;
    return this.#transport.json(path, { method: "DELETE", ...this.#call(options) });
  }

  /** The fields that the Actor keeps; `threadId` where each thread has its own. */
  async workingMemory(options: Place & Call = {}): Promise<WorkingMemory> {
    return this.#transport.json(...this.#working(options));
  }

  /** Change fields, null empties one; with `replace` all that are not named are emptied. With the `version` that was read it is `superseded` where another stands. */
  async updateWorkingMemory(
    fields: Record<string, unknown>, options: { replace?: boolean; version?: number } & Place & Call = {},
  ): Promise<WorkingChange> {
    const body = { fields, ...(options.version === undefined ? {} : { version: options.version }) };
    return this.#transport.json(...this.#working(options, { method: options.replace ? "PUT" : "PATCH", body }));
  }

  /** Bring back what it said before the last change. */
  async undoWorkingMemory(options: Place & Call = {}): Promise<WorkingChange> {
    return this.#transport.json(...this.#working(options, { method: "POST", retries: 0 }, "/undo"));
  }

  /** The tool by which a model changes its working memory, as a provider's list of tools takes it. */
  async workingMemoryTool(format: "openai" | "anthropic" | "gemini" = "openai", options: Place & Call = {}): Promise<Record<string, unknown>> {
    const path = `${this.#of(options.resourceId)}/working-memory-tool`;
    return this.#transport.json(path, { query: { format }, signal: options.signal });
  }

  /** Do what a model's call of that tool asks: the text to hand back. */
  async answerWorkingMemory(call: object, options: Place & Call = {}): Promise<string> {
    const asked = { method: "POST", body: call, query: { thread_id: options.threadId }, signal: options.signal } as const;
    return (await this.#transport.json<{ text: string }>(`${this.#of(options.resourceId)}/working-memory-tool`, asked)).text;
  }

  /** The tool by which a model tells a shared memory something, as a provider's list of tools takes it. */
  async shareTool(format: "openai" | "anthropic" | "gemini" = "openai", options: Place & Call = {}): Promise<Record<string, unknown>> {
    return this.#transport.json(`${this.#of(options.resourceId)}/share-tool`, { query: { format }, signal: options.signal });
  }

  /** Do what a model's call of that tool asks: the text to hand back. The same text told again stands there once. */
  async answerShare(call: object, options: Place & Call = {}): Promise<string> {
    const asked = { method: "POST", body: call, signal: options.signal } as const;
    return (await this.#transport.json<{ text: string }>(`${this.#of(options.resourceId)}/share-tool`, asked)).text;
  }

  /** What extractors found, by their names: of a thread and of the whole memory, or of this alone. */
  async extracted(options: Place & Call = {}): Promise<Extracted> {
    const path = `${this.#of(options.resourceId)}/extracted`;
    return this.#transport.json(path, { query: { thread_id: options.threadId }, signal: options.signal });
  }

  /** An agent's hooks in the order in which they are asked, and how often each failed; a key of an operator's may ask. */
  async hooks(options: Place & Call = {}): Promise<HookState[]> {
    return this.#transport.json(`${this.#of(options.resourceId)}/hooks`, { signal: options.signal });
  }

  /** The observations in force, of one thread or of all. */
  async observations(options: Place & Call = {}): Promise<Observation[]> {
    return this.#every(`${this.#of(options.resourceId)}/observations`, { thread_id: options.threadId }, options);
  }

  /** The generations of a resource's reflections. */
  async reflections(options: Place & Call = {}): Promise<Generation[]> {
    return this.#every(`${this.#of(options.resourceId)}/reflections`, { thread_id: options.threadId }, options);
  }

  /** The groups of notes that were set aside word for word, oldest first; `within` a month ("2026-03") or a year. */
  async groups(options: Place & Call & { within?: string } = {}): Promise<NoteGroup[]> {
    return this.#every(`${this.#of(options.resourceId)}/groups`, { thread_id: options.threadId, within: options.within }, options);
  }

  /** The notes of one group, by the name that its heading shows. */
  async group(name: string, options: Place & Call = {}): Promise<Observation[]> {
    const path = `${this.#of(options.resourceId)}/groups/${encodeURIComponent(checkedId(name, "name"))}`;
    return this.#every(path, { thread_id: options.threadId }, options);
  }

  /** The messages behind an observation, oldest first; none once they have expired. */
  async sources(observationId: string, options: Place & Call = {}): Promise<KeptMessage[]> {
    const name = encodeURIComponent(checkedId(observationId, "observationId"));
    return this.#every(`${this.#of(options.resourceId)}/observations/${name}/messages`, {}, options);
  }

  /** The messages of a thread that no observation took the place of yet, oldest first. */
  async messages(options: Place & Call = {}): Promise<KeptMessage[]> {
    const { resource, thread } = this.#place(options);
    return this.#every(`${pathOf(resource, thread)}/messages`, {}, options);
  }

  /** How full a memory is, and what waits. */
  async stats(options: { resourceId?: string } & Call = {}): Promise<Stats> {
    return this.#transport.json(`${this.#of(options.resourceId)}/stats`, { signal: options.signal });
  }

  /** Have the workers observe what is raw now, and wait for it so many seconds. */
  async observe(options: { wait?: number } & Place & Call = {}): Promise<Forced> {
    return this.#force("observe", options);
  }

  /** Have the workers condense the observations now, and wait for it so many seconds. */
  async reflect(options: { wait?: number } & Place & Call = {}): Promise<Forced> {
    return this.#force("reflect", options);
  }

  /** What happens to memories from now on, or behind `after`; after a break it goes on where it was. */
  events(options: EventOptions = {}): AsyncGenerator<Event, void, void> {
    return eventsOf(this.#transport, options);
  }

  /**
   * Redact what was stored before `redaction.before: store` was set; with `dryRun` it is told how much would be. A key of an operator's
   * may ask. Repeating it is safe.
   */
  async redact(options: { dryRun?: boolean; resourceId?: string } & Call = {}): Promise<Redacted> {
    const body = { dry_run: options.dryRun ?? false };
    return this.#transport.json(`${this.#of(options.resourceId)}/redact`, { method: "POST", body, signal: options.signal });
  }

  /** Send what waits, if the memory is back: at the end of a process that fails open. How many messages still wait. */
  async flush(options: Call = {}): Promise<number> {
    try {
      if (this.#unsent.all.length) await this.#sentAfterThoseThatWait([], options);
    } catch (error) {
      this.#lost(error);
    }
    return this.#unsent.all.length;
  }

  #force(what: "observe" | "reflect", { wait = 0, ...options }: { wait?: number } & Place & Call): Promise<Forced> {
    if (!(wait >= 0 && wait <= LONGEST_WAIT_S)) throw new InvalidInputError(`wait must be 0 to ${LONGEST_WAIT_S} seconds`);
    const body = { wait, ...(options.threadId === undefined ? {} : { thread_id: namedId(options.threadId, "threadId") }) };
    return this.#transport.json(`${this.#of(options.resourceId)}/${what}`, { method: "POST", body, signal: options.signal, waitMs: wait * 1000 });
  }

  #working(options: Place & Call, more: Omit<Asked, "query" | "signal"> = {}, tail = ""): [string, Asked] {
    const asked = { ...more, query: { thread_id: options.threadId }, signal: options.signal };
    return [`${this.#of(options.resourceId)}/working-memory${tail}`, asked];
  }

  async #every<T>(path: string, query: Record<string, unknown>, { signal }: Call): Promise<T[]> {
    const found: T[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: { items: T[]; next?: string | null } = await this.#transport.json(path, { query: { ...query, cursor, limit: 500 }, signal });
      found.push(...page.items);
      cursor = page.next ?? null;
    }
    return found;
  }

  #of(resourceId: string | undefined): string {
    return `/resources/${encodeURIComponent(this.#resource(resourceId))}`;
  }

  #resource(resourceId: string | undefined): string {
    return namedId(resourceId ?? this.#resourceId, "resourceId");
  }

  #place(options: Place): { resource: string; thread: string } {
    return { resource: this.#resource(options.resourceId), thread: namedId(options.threadId, "threadId") };
  }

  /** Messages with their ids and places; throws InvalidInputError, which says by position which one cannot be. */
  #ready(messages: readonly Message[], options: AddOptions): Waiting[] {
    return messages.map((given, n) => {
      if (typeof given !== "object" || given === null || Array.isArray(given)) {
        throw new InvalidInputError(`messages[${n}] is ${Array.isArray(given) ? "a list" : typeof given}, no message: pass {role, content}; nothing was sent`);
      }
      try {
        const own = given as Place & { id?: unknown };
        const place = this.#place({ ...pick(options), ...pick(own) });
        return { ...place, message: { ...bare(given), id: own.id ?? newId() }, memory: options.memory };
      } catch (error) {
        throw new InvalidInputError(`messages[${n}]: ${(error as Error).message}; nothing was sent`, { cause: error });
      }
    });
  }

  async #sentAfterThoseThatWait(ready: Waiting[], options: Call): Promise<Receipt> {
    for (const some of batches(this.#unsent.all)) await this.#sentOrDropped(some, options);
    const { receipt } = await this.#sent(ready, options);
    this.#away = false;
    if (this.#unsent.dropped) this.#tellDropped();
    return receipt;
  }

  /** Send a batch that waits. What the memory refuses for good would hold up all that comes after it: it is dropped, and that is said. */
  async #sentOrDropped(some: readonly Waiting[], options: Call): Promise<void> {
    try {
      await this.#sent(some, options);
      this.#unsent.forget(some);
    } catch (error) {
      if (error instanceof StoreError || !(error instanceof OMError)) throw error;
      if (some.length > 1 && !(error instanceof NotPermittedError)) {
        for (const each of some) await this.#sentOrDropped([each], options);
      } else {
        const gone = this.#unsent.forget(some);
        if (gone.length) this.#warn(`what waited for thread ${gone[0]!.thread} was refused and is lost, ${namesOf(gone)}: ${error.message}`);
      }
    }
  }

  /** What fallback contexts show behind the one that was read last. */
  #said(ready: readonly Waiting[]): void {
    for (const { resource, thread, message } of ready) this.#last.said(placed(resource, thread), [message]);
  }

  async #sent(ready: readonly Waiting[], options: AddOptions): Promise<{ receipt: Receipt }> {
    const receipt = receiptOf([]);
    let kept = false;
    for (const some of batches(ready)) {
      try {
        const path = `${pathOf(some[0]!.resource, some[0]!.thread)}/messages`;
        const { memory } = some[0]!;
        const body = { messages: some.map((each) => each.message), ...(options.replace ? { replace: true } : {}), ...(memory ? { memory } : {}) };
        added(receipt, await this.#transport.json(path, { method: "POST", body, ...this.#call(options) }));
        kept = true;
      } catch (error) {
        throw kept ? partly(error, receipt.ids.length) : error;
      }
    }
    return { receipt };
  }

  /** While the memory is known to be away and it fails open, a call is tried once: an agent does not wait for what it goes on without. */
  #call({ signal }: Call): Pick<Asked, "signal" | "retries"> {
    return { signal, retries: this.#failOpen && this.#away ? 0 : undefined };
  }

  /** Throws what is no failure of the memory; says once that it is away. */
  #lost(error: unknown): void {
    if (!(error instanceof StoreError)) throw error;
    if (!this.#away) this.#warn(`the memory is away, and the agent goes on without it: ${error.message}`);
    this.#away = true;
  }

  /** Says once that something had no room while the memory is away, and how much it was when it is back. */
  #tellDropped(): void {
    const { dropped } = this.#unsent;
    if (this.#away && !this.#full) this.#warn("there is no room for all messages that wait: the oldest are lost");
    if (!this.#away) this.#warn(`${dropped} of the messages that waited had no room and are lost`);
    this.#full = this.#away;
    if (!this.#away) this.#unsent.dropped = 0;
  }
}

function pick({ threadId, resourceId }: Place): Place {
  return { ...(threadId === undefined ? {} : { threadId }), ...(resourceId === undefined ? {} : { resourceId }) };
}

/** A message as it is sent: without the names of its place. */
function bare(given: Message): Record<string, unknown> {
  const { threadId: _thread, resourceId: _resource, ...message } = given as Record<string, unknown>;
  return message;
}

function namesOf(messages: readonly Waiting[]): string {
  return messages.map(({ message }) => `message ${String(message["id"])}`).join(", ");
}

function placed(resource: string, thread: string): string {
  return `${resource}|${thread}`;
}

function pathOf(resource: string, thread: string): string {
  return `/resources/${encodeURIComponent(resource)}/threads/${encodeURIComponent(thread)}`;
}

/** Messages in the order they were given, in as many as fit into a request and are of one thread. */
function* batches(ready: readonly Waiting[]): Generator<Waiting[]> {
  let [some, size]: [Waiting[], number] = [[], 0];
  for (const each of ready) {
    const own = encoded(each.message).length;
    const other = some[0] && (placed(some[0].resource, some[0].thread) !== placed(each.resource, each.thread) || some[0].memory !== each.memory);
    if (some.length && (other || some.length >= BATCH || size + own > BATCH_CHARACTERS)) {
      yield some;
      [some, size] = [[], 0];
    }
    some.push(each);
    size += own;
  }
  if (some.length) yield some;
}

function receiptOf(ready: readonly Waiting[]): Receipt {
  return { ids: ready.map(({ message }) => String(message["id"])), added: 0, duplicates: [], grown: [], changed: [], replaced: [], ahead: [], ahead_ms: 0 };
}

function added(all: Receipt, more: Receipt): void {
  all.added += more.added;
  for (const name of ["ids", "duplicates", "grown", "changed", "replaced", "ahead"] as const) (all[name] as unknown[]).push(...more[name]);
  all.ahead_ms = Math.max(all.ahead_ms, more.ahead_ms);
}

/** What a later request of a call was refused with: the messages of the earlier ones are kept. */
function partly(error: unknown, kept: number): unknown {
  if (!(error instanceof OMError)) return error;
  const text = `${error.message} (the first ${kept} messages of this call are kept)`;
  const stored = error instanceof StoreError ? { stored: null } : {};
  return Object.assign(Object.create(Object.getPrototypeOf(error) as object) as OMError, error, { message: text, ...stored, name: error.name, cause: error });
}
