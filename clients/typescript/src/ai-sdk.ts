/** A memory for the AI SDK: one middleware around any of its models, and recall as a tool. */
import type { LanguageModelV4Content, LanguageModelV4Middleware, LanguageModelV4Prompt, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { jsonSchema, tool, type Tool } from "ai";
import type { ObservationalMemory } from "./client.js";
import { RECALL_TOOLS } from "./generated/recall_tool.js";
import type { PromptMessage, PromptPart } from "./prompts/messages.js";
import { named, PromptMemory, type PromptMemoryOptions, type Turn } from "./prompts/prompt_memory.js";
import type { Place } from "./types.js";

export type { PromptMemoryOptions as MemoryMiddlewareOptions } from "./prompts/prompt_memory.js";

const WHERE =
  'pass providerOptions: { om: { threadId, resourceId } } to generateText or streamText, or name them in memoryMiddleware({ … })';

/**
 * Middleware for `wrapLanguageModel`: before each call of the model its prompt is kept, and what the memory says takes the place of
 * what has grown old; afterwards the answer is kept. Of a stream that its reader leaves, the words that were read are kept.
 */
export function memoryMiddleware(options: PromptMemoryOptions): LanguageModelV4Middleware {
  const memory = new PromptMemory(options);
  const turns = new WeakMap<object, { turn: Turn; signal: AbortSignal | undefined }>();
  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const { om, ...others } = params.providerOptions ?? {};
      const place = memory.place((om ?? {}) as Place, WHERE);
      const turn = await memory.begin(params.prompt as PromptMessage[], place, params.abortSignal);
      const changed = { ...params, prompt: turn.prompt as LanguageModelV4Prompt };
      if (om) changed.providerOptions = others;
      turns.set(changed, { turn, signal: params.abortSignal });
      return changed;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const { turn } = turns.get(params)!;
      await memory.end(turn, answerOf(result.content));
      return result;
    },
    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const { turn } = turns.get(params)!;
      return { ...result, stream: kept(result.stream, (answer) => memory.end(turn, answer)) };
    },
  };
}

/** What was said earlier, looked up by the model itself: `tools: { recall: recallTool(memory, { resourceId, threadId }) }`. */
export function recallTool(memory: ObservationalMemory, options: { resourceId?: string; threadId?: string; maxTokens?: number } = {}): Tool<Record<string, unknown>, string> {
  const { description, parameters } = RECALL_TOOLS.openai.function;
  return tool({
    description,
    inputSchema: jsonSchema<Record<string, unknown>>(parameters as unknown as Parameters<typeof jsonSchema>[0] as never),
    execute: (asked: Record<string, unknown>, { abortSignal }: { abortSignal?: AbortSignal | undefined }) =>
      memory.answerRecall(asked, { ...options, ...named(options), signal: abortSignal }),
  }) as Tool<Record<string, unknown>, string>;
}

/** An answer as the next prompt will have it. */
function answerOf(content: readonly LanguageModelV4Content[]): PromptMessage {
  return { role: "assistant", content: content.map((part) => part as unknown as PromptPart) };
}

/** A stream of which whatever was read is kept when it ends, or when its reader leaves it: then without calls, which have no result. */
function kept(
  stream: ReadableStream<LanguageModelV4StreamPart>, keep: (answer: PromptMessage) => Promise<void>,
): ReadableStream<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  const said = new Said();
  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      let read;
      try {
        read = await reader.read();
      } catch (error) {
        await keep(said.words).catch(() => undefined);
        controller.error(error);
        return;
      }
      if (read.done) {
        await keep(said.answer);
        controller.close();
      } else {
        said.take(read.value);
        controller.enqueue(read.value);
      }
    },
    async cancel(reason) {
      await reader.cancel(reason);
      await keep(said.words);
    },
  }, { highWaterMark: 0 });
}

/** What a stream has said so far. */
class Said {
  readonly #parts: PromptPart[] = [];
  readonly #texts = new Map<string, PromptPart>();

  take(part: LanguageModelV4StreamPart): void {
    if (part.type === "text-start") {
      const text = { type: "text", text: "" };
      this.#texts.set(part.id, text);
      this.#parts.push(text);
    } else if (part.type === "text-delta") {
      const text = this.#texts.get(part.id);
      if (text) text["text"] += part.delta;
    } else if (part.type === "tool-call" || part.type === "file") this.#parts.push(part as unknown as PromptPart);
    else if (part.type === "tool-result" && !part.preliminary) this.#parts.push(part as unknown as PromptPart);
  }

  get answer(): PromptMessage {
    return { role: "assistant", content: this.#parts };
  }

  get words(): PromptMessage {
    return { role: "assistant", content: this.#parts.filter((part) => part.type === "text") };
  }
}
