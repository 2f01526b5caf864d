/** A memory for Mastra: one input processor of an agent, and recall as a tool. */
import type { ObservationalMemory } from "./client.js";
import { RECALL_TOOLS } from "./generated/recall_tool.js";
import type { PromptMessage, PromptPart } from "./prompts/messages.js";
import { named, PromptMemory, type PromptMemoryOptions, type Turn } from "./prompts/prompt_memory.js";
import type { Place } from "./types.js";

export type { PromptMemoryOptions as MemoryProcessorOptions } from "./prompts/prompt_memory.js";

const ID = "cortex-om";
const WHERE =
  'pass memory: { thread, resource } to agent.generate or agent.stream, set "threadId" and "resourceId" in its requestContext, ' +
  "or name them in new MemoryProcessor({ … })";

interface RequestContext {
  get(key: string): unknown;
}
interface MessageList {
  get?: { all?: { db?: () => Place[] } };
}
interface Asked {
  prompt: unknown;
  state: Record<string, unknown>;
  requestContext?: RequestContext;
  messageList?: MessageList;
  abortSignal?: AbortSignal;
}
interface Answered {
  chunks: readonly { type: string; payload: unknown }[];
  state: Record<string, unknown>;
}

/**
 * Put it last into an agent's `inputProcessors`: before each call of the model its prompt is kept, and what the memory says takes the
 * place of what has grown old, for this call alone; afterwards the answer is kept. Nothing of it gets into Mastra's own storage.
 */
export class MemoryProcessor {
  readonly id = ID;
  readonly name = "Observational memory";
  readonly #memory: PromptMemory;

  constructor(options: PromptMemoryOptions) {
    this.#memory = new PromptMemory(options);
  }

  async processLLMRequest({ prompt, state, requestContext, messageList, abortSignal }: Asked): Promise<{ prompt: any }> {
    const place = this.#memory.place(placeOf(requestContext, messageList), WHERE);
    const turn = await this.#memory.begin(prompt as PromptMessage[], place, abortSignal);
    state[ID] = turn;
    return { prompt: turn.prompt };
  }

  async processLLMResponse({ chunks, state }: Answered): Promise<void> {
    const turn = state[ID] as Turn | undefined;
    if (turn) await this.#memory.end(turn, answerOf(chunks));
    delete state[ID];
  }
}

/**
 * What was said earlier, looked up by the model itself; give the tool to an agent with `createTool(recallTool(memory, { resourceId }))`.
 *
 * A run looks up in the memory of its own resource; `resourceId` is for runs that name none.
 */
export function recallTool(memory: ObservationalMemory, options: { resourceId?: string; maxTokens?: number } = {}) {
  const { name, description, parameters } = RECALL_TOOLS.openai.function;
  return {
    id: name,
    description,
    inputSchema: parameters as any,
    execute: (asked: any, context?: any): Promise<string> =>
      memory.answerRecall(asked?.context ?? asked, { ...options, ...named({ ...options, ...placeOf(context?.requestContext) }), signal: context?.abortSignal }),
  };
}

/** Whose call it is: as the keys that Mastra reserves say, as its memory or its messages have it, or as the application set it. */
function placeOf(context: RequestContext | undefined, messages?: MessageList): Place {
  const memory = context?.get("MastraMemory") as { thread?: { id?: string }; resourceId?: string } | undefined;
  const last = messages?.get?.all?.db?.().findLast((message) => message.threadId && message.resourceId);
  const thread = context?.get("mastra__threadId") ?? memory?.thread?.id ?? last?.threadId ?? context?.get("threadId");
  const resource = context?.get("mastra__resourceId") ?? memory?.resourceId ?? last?.resourceId ?? context?.get("resourceId");
  return { ...(thread ? { threadId: String(thread) } : {}), ...(resource ? { resourceId: String(resource) } : {}) };
}

interface Chunk {
  type: string;
  payload: any;
}

/** An answer as the next prompt will have it. */
function answerOf(chunks: readonly { type: string; payload: unknown }[]): PromptMessage {
  const [content, texts]: [PromptPart[], Map<string, PromptPart>] = [[], new Map()];
  for (const { type, payload } of chunks as readonly Chunk[]) {
    if (type === "text-start" || (type === "text-delta" && !texts.has(payload.id))) {
      const text = { type: "text", text: "" };
      texts.set(payload.id, text);
      content.push(text);
    }
    if (type === "text-delta") texts.get(payload.id)!["text"] += payload.text ?? payload.delta ?? "";
    if (type === "tool-call") content.push({ type, toolCallId: payload.toolCallId, toolName: payload.toolName, input: payload.args ?? payload.input });
  }
  return { role: "assistant", content };
}
