/** What a model sees: the agent's instructions, our notes, what is raw, and what closes it. */
import type { ContextBlock, KeptMessage } from "../types.js";
import { fromKept, note, type PromptMessage } from "./messages.js";

/** A prompt without its instructions, and which of its messages is kept under which id. */
export interface Held {
  messages: readonly PromptMessage[];
  /** The place of the message that an id stands for. */
  places: ReadonlyMap<string, number>;
}

/** The parts of a context around the messages. */
export interface Notes {
  before: PromptMessage[];
  after: PromptMessage[];
}

export function notesOf(blocks: readonly ContextBlock[]): Notes {
  const system = blocks.filter((block) => block.role === "system" && block.kind !== "message").map((block) => block.text);
  const of = (kind: string) => blocks.filter((block) => block.kind === kind).map((block) => note("user", block.text));
  const before = [...(system.length ? [note("system", system.join("\n\n"))] : []), ...of("continuation")];
  return { before, after: of("volatile") };
}

/** The place of the framework's oldest message that stays: the oldest raw one, or the call of the results that come first. */
export function cutOf(blocks: readonly ContextBlock[], held: Held): number {
  const raw = blocks.flatMap((block) => held.places.get(block.id) ?? []);
  let cut = raw.length ? Math.min(...raw) : held.messages.length - 1;
  while (cut > 0 && ["tool", "system"].includes(held.messages[cut]!.role)) cut--;
  return Math.max(0, cut);
}

/** What stays before a cut: instructions, which no memory keeps, and the user's newest words, which a run is about until it ends. */
export function stayingBefore(cut: number, messages: readonly PromptMessage[]): PromptMessage[] {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(0, cut).filter(({ role }, n) => role === "system" || n === asked);
}

/** Whether the memory holds raw messages that the framework does not. */
export function lacks(blocks: readonly ContextBlock[], held: Held): boolean {
  return blocks.some((block) => block.id && !held.places.has(block.id));
}

/**
 * The messages of a view, in the memory's order: the framework's own where it has one, for it may hold more than a memory can; what
 * only the memory has in between; and whatever the framework holds behind the cut besides.
 */
export function messagesOf(blocks: readonly ContextBlock[], held: Held, kept: ReadonlyMap<string, KeptMessage>): PromptMessage[] {
  let next = cutOf(blocks, held);
  const shown = stayingBefore(next, held.messages);
  for (const block of blocks) {
    const place = held.places.get(block.id);
    if (place !== undefined) {
      if (place >= next) shown.push(...held.messages.slice(next, place + 1));
      next = Math.max(next, place + 1);
    } else if (block.kind === "day") shown.push(note("user", block.text));
    else if (block.kind === "message" && kept.has(block.id)) shown.push(...fromKept(kept.get(block.id)!));
  }
  return paired([...shown, ...held.messages.slice(next)], new Set(held.messages));
}

/** Without calls and results whose other half is not there, of messages that the framework does not answer for. */
function paired(messages: PromptMessage[], own: ReadonlySet<PromptMessage>): PromptMessage[] {
  const ids = (type: string) =>
    new Set(messages.flatMap(({ content }) => (typeof content === "string" ? [] : content.filter((part) => part.type === type).map((part) => part["toolCallId"]))));
  const [calls, results] = [ids("tool-call"), ids("tool-result")];
  return messages.flatMap((message) => {
    const { content } = message;
    if (own.has(message) || typeof content === "string") return [message];
    const left = content.filter((part) => {
      if (part.type === "tool-call") return results.has(part["toolCallId"]);
      return part.type !== "tool-result" || calls.has(part["toolCallId"]);
    });
    return left.length ? [{ ...message, content: left }] : [];
  });
}
