/** Requests: repeated where that may help, within one time-out, and refused ones as errors. */
import {
  InvalidInputError, NotFoundError, NotPermittedError, OMError, RateLimitedError, RequestTimeoutError, StoreError,
  UnexpectedReplyError, UnreachableError,
} from "./errors.js";
import type { Options } from "./types.js";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const SHOWN = 200;

export interface Asked {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** How often it is repeated at most, where that is less than usual. */
  retries?: number | undefined;
  /** By which it may take longer than `timeoutMs`, because the server was told to wait. */
  waitMs?: number;
}

export class Transport {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #traceparent: () => string | undefined;

  constructor({ url, key, timeoutMs = 10_000, retries = 8, traceparent = () => undefined, fetch: own }: Options) {
    this.#base = based(url);
    if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
      throw new InvalidInputError("key is empty or holds blanks: pass what `om keys create` printed, om_…");
    }
    if (!(timeoutMs > 0)) throw new InvalidInputError("timeoutMs must be more than 0: milliseconds that a call may take");
    if (!(retries >= 0)) throw new InvalidInputError("retries must be 0 or more: how often a call is repeated");
    this.#key = key;
    this.#fetch = own ?? ((...given) => globalThis.fetch(...given));
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#traceparent = traceparent;
  }

  /** Ask, and answer with the reply's JSON; throws OMError, or what `signal` was aborted with. */
  async json<T>(path: string, asked: Asked = {}): Promise<T> {
    const limitMs = this.#timeoutMs + (asked.waitMs ?? 0);
    const limit = timed(asked.signal, limitMs);
    try {
      return await this.#tried<T>(path, { ...asked, signal: limit.signal }, Date.now() + limitMs);
    } catch (error) {
      if (asked.signal?.aborted) throw asked.signal.reason;
      if (!limit.signal.aborted || error instanceof OMError) throw error;
      const text = `${this.#base} did not answer within ${limitMs} ms: repeat the call with the same ids, or raise timeoutMs`;
      throw new RequestTimeoutError(text, { cause: error });
    } finally {
      limit.done();
    }
  }

  async #tried<T>(path: string, asked: Asked, end: number): Promise<T> {
    for (let n = 0; ; n++) {
      try {
        const reply = await this.send(path, asked);
        return await this.#read<T>(reply);
      } catch (error) {
        const waitMs = pauseMs(error, n);
        if (n >= Math.min(this.#retries, asked.retries ?? Infinity) || waitMs === undefined || Date.now() + waitMs >= end) throw error;
        await sleep(waitMs, asked.signal);
      }
    }
  }

  async #read<T>(reply: Response): Promise<T> {
    const text = await reply.text().catch((error: unknown) => {
      throw new UnreachableError(`the reply of ${this.#base} broke off: repeat the call with the same ids`, { cause: error });
    });
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw unexpected(this.#base, reply, text, error);
    }
  }

  /** Ask once, for a stream's sake: the reply is a success; throws OMError. */
  async send(path: string, { method = "GET", query = {}, body, signal }: Asked, headers: Record<string, string> = {}): Promise<Response> {
    const init: RequestInit = { method, headers: { Accept: "application/json", ...headers }, signal: signal ?? null };
    const own = init.headers as Record<string, string>;
    if (this.#key !== undefined) own["Authorization"] = `Bearer ${this.#key}`;
    const within = this.#traceparent();
    if (within) own["traceparent"] = within;
    if (body !== undefined) {
      init.body = encoded(body);
      own["Content-Type"] = "application/json";
    }
    let reply: Response;
    try {
      reply = await this.#fetch(`${this.#base}/v1${path}${asQuery(query)}`, init);
    } catch (error) {
      if (signal?.aborted) throw error;
      const text = `${this.#base} cannot be reached: see that \`om api\` runs there, and repeat the call with the same ids`;
      throw new UnreachableError(text, { cause: error });
    }
    if (!reply.ok) throw await this.#refused(reply);
    return reply;
  }

  async #refused(reply: Response): Promise<OMError> {
    const text = await reply.text().catch(() => "");
    const told = asProblem(text);
    if (!told) return unexpected(this.#base, reply, text);
    const { detail, stored = null, errors = [] } = told;
    const status = reply.status;
    const retryAfter = Number(reply.headers.get("retry-after"));
    if (status === 401 || status === 403) return new NotPermittedError(detail, { status });
    if (status === 404) return new NotFoundError(detail, { status, errors });
    if (status === 429) return new RateLimitedError(detail, { status, stored, retryAfter: retryAfter || 1 });
    if (status === 408 || status >= 500) {
      const error = new StoreError(detail, { status, stored });
      return retryAfter > 0 ? Object.assign(error, { retryAfter }) : error;
    }
    return new InvalidInputError(detail, { status, errors });
  }
}

interface Problem {
  detail: string;
  stored?: boolean | null;
  errors?: { where: string; what: string }[];
}

/** An RFC 9457 problem as `om api` writes it; undefined for anything else. */
function asProblem(text: string): Problem | undefined {
  try {
    const found = JSON.parse(text) as Problem;
    return typeof found?.detail === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}

function unexpected(base: string, reply: Response, text: string, cause?: unknown): UnexpectedReplyError {
  const kind = reply.headers.get("content-type") ?? "no content type";
  const begin = text.trim().slice(0, SHOWN);
  const what = `${base} answered ${reply.status} with ${kind} instead of JSON (${JSON.stringify(begin)})`;
  const advice = "is a proxy in between, or does url name another program? It must be where `om api` serves";
  return new UnexpectedReplyError(`${what}: ${advice}`, { status: reply.status, cause });
}

/** How long to wait before a call is repeated; undefined where it would not help. */
function pauseMs(error: unknown, n: number): number | undefined {
  if (!(error instanceof StoreError)) return undefined;
  const passes = error.status === undefined || error.status === 408 || error.status === 429 || error.status >= 500;
  if (!passes) return undefined;
  const told = (error as { retryAfter?: number }).retryAfter;
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** n);
  if (error instanceof RateLimitedError) return error.retryAfter * 1000 + most * Math.random();
  // a 503 says seconds, which is long for a store that is back at once
  return Math.min(told === undefined ? most : told * 1000, most) * (0.5 + Math.random() / 2);
}

function based(url: string): string {
  let found: URL;
  try {
    found = new URL(url);
  } catch {
    throw new InvalidInputError("url is no address: pass where `om api` serves, such as http://127.0.0.1:8000");
  }
  if (!/^https?:$/.test(found.protocol) || found.username || found.password || found.search || found.hash) {
    throw new InvalidInputError("url must be http:// or https:// without a password or a query; the key is an option of its own");
  }
  return `${found.origin}${found.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
}

function asQuery(query: Record<string, unknown>): string {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined && each !== null) found.append(name, String(each));
  }
  const text = found.toString();
  return text && `?${text}`;
}

/** JSON of a body; throws InvalidInputError for what has none, such as a BigInt or a circle. */
export function encoded(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new InvalidInputError(`a message is no JSON: ${(error as Error).message.split("\n")[0]}; nothing was sent`, { cause: error });
  }
}

/** A signal that ends with another one, or after so many ms. */
export function timed(signal: AbortSignal | undefined, ms: number): { signal: AbortSignal; done: () => void } {
  const own = new AbortController();
  const end = () => own.abort(signal?.reason);
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end);
  const timer = setTimeout(() => own.abort(), Math.min(ms, LONGEST_TIMER_MS));
  const done = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  };
  return { signal: own.signal, done };
}

/** Wait; rejects as soon as the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end);
  });
}
