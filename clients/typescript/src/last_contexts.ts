/** What is read of a thread while its memory is away: its last context, and what was said since. */
import type { Context, Format } from "./types.js";
import { Recent } from "./waiting.js";

const THREADS = 64;
const MESSAGES = 200;

interface Last {
  context: Context | undefined;
  also?: string;
  said: object[];
}
type Shown = Record<string, unknown>;

/** The contexts that were read last, by thread and format. */
export class LastContexts {
  readonly #last = new Recent<Last>(THREADS);

  /** A context was read: what is said from now on comes behind it. */
  read(key: string, context: Context, saidBefore: number, also: readonly string[] = []): void {
    const said = this.#last.get(key)?.said.slice(saidBefore) ?? [];
    this.#last.set(key, { context, said, also: also.join(" ") });
  }

  /** A message was added. */
  said(key: string, messages: readonly object[]): void {
    const last = this.#last.get(key) ?? { context: undefined, said: [] };
    this.#last.set(key, { ...last, said: [...last.said, ...messages].slice(-MESSAGES) });
  }

  count(key: string): number {
    return this.#last.get(key)?.said.length ?? 0;
  }

  /** The last context of a thread in a format, with what was said since as it was given; of other memories as asked for. */
  of(key: string, format: Format, also: readonly string[] = []): Context {
    const { context, said, also: read = "" } = this.#last.get(key) ?? { context: undefined, said: [] };
    const shown = context?.format === format && read === also.join(" ") ? context : nothing(format);
    return { ...appended(shown, said as Shown[]), unavailable: true };
  }
}

function nothing(format: Format): Context {
  const empty = { tokens: 0, omitted: 0, omitted_tokens: {}, recalled: [], composed: {}, left_out: {} };
  if (format === "text") return { ...empty, format, context: "" };
  if (format === "anthropic") return { ...empty, format, context: { system: [], messages: [] } } as unknown as Context;
  if (format === "gemini") return { ...empty, format, context: { contents: [] } } as unknown as Context;
  return { ...empty, format, context: [] } as unknown as Context;
}

function appended(context: Context, said: readonly Shown[]): Context {
  const turns = said.map((message) => shownAs(context.format, message));
  const found = context.context as unknown;
  if (typeof found === "string") return { ...context, context: [found, ...turns].filter(Boolean).join("\n\n") } as Context;
  if (Array.isArray(found)) return { ...context, context: [...found, ...turns] } as Context;
  const name = context.format === "gemini" ? "contents" : "messages";
  const held = found as Record<string, unknown[]>;
  return { ...context, context: { ...held, [name]: [...(held[name] ?? []), ...turns] } } as unknown as Context;
}

function shownAs(format: Format, { id, timestamp: _at, metadata: _own, ...message }: Shown): unknown {
  const words = textOf(message), role = String(message["role"] ?? "user");
  if (format === "text") return `${role}: ${words.replaceAll("\n", "\n\t")}`;
  if (format === "blocks") return { kind: "message", role, text: words, stable: false, tokens: 0, hash: "", id: String(id ?? ""), resource_id: "" };
  if (format !== "gemini" || message["parts"]) return message;
  return { role: role === "assistant" ? "model" : role, parts: [{ text: words }] };
}

/** The texts of a message, a line each. */
function textOf(message: Shown): string {
  const content = message["content"] ?? message["parts"] ?? "";
  if (typeof content === "string") return content;
  const texts = (content as Shown[]).map((part) => (typeof part === "string" ? part : part?.["text"]));
  return texts.filter((text) => typeof text === "string").join("\n");
}
