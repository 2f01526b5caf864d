import assert from "node:assert/strict";
import { before, test } from "node:test";
import { generateText, jsonSchema, simulateReadableStream, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { InvalidInputError, ObservationalMemory, UnreachableError } from "cortex-om";
import { memoryMiddleware, recallTool } from "cortex-om/ai-sdk";
import { Api, key, sleep } from "./api.mjs";
import { SYSTEM, TURNS, Prompts, answer, assertActivatedTwice, assertKept, calledSince, question, result, turnOf } from "./talk.mjs";

let api, memory;
before(async () => {
  api = await Api.shared();
  memory = new ObservationalMemory({ url: api.url, key, timeoutMs: 90_000, retries: 200 });
});

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const generated = (content, reason = "stop") => ({ content, finishReason: { unified: reason, raw: undefined }, usage, warnings: [] });
const words = (text) => generated([{ type: "text", text }]);

/** A model that looks a parcel up, twice at once every third turn, and then answers. */
function scripted(prompts) {
  const said = (prompt) => {
    prompts.check(prompt);
    const n = turnOf(prompt);
    if (calledSince(prompt, n)) return { content: [{ type: "text", text: answer(n) }], reason: "stop" };
    const calls = Array.from({ length: n % 3 === 0 ? 2 : 1 }, (_, which) => ({
      type: "tool-call", toolCallId: `call-${n}-${which}`, toolName: "look", input: JSON.stringify({ n, which }),
    }));
    return { content: [{ type: "reasoning", text: "hm" }, ...calls], reason: "tool-calls" };
  };
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const { content, reason } = said(prompt);
      return generated(content, reason);
    },
    doStream: async ({ prompt }) => {
      const { content, reason } = said(prompt);
      return { stream: simulateReadableStream({ chunks: [...content.flatMap(chunked), { type: "finish", finishReason: { unified: reason }, usage }] }) };
    },
  });
}

function chunked(part) {
  if (part.type !== "text" && part.type !== "reasoning") return [part];
  const deltas = part.text.match(/.{1,20}/g).map((delta) => ({ type: `${part.type}-delta`, id: "1", delta }));
  return [{ type: `${part.type}-start`, id: "1" }, ...deltas, { type: `${part.type}-end`, id: "1" }];
}

const tools = {
  look: tool({
    description: "Look a parcel up.",
    inputSchema: jsonSchema({ type: "object", properties: { n: { type: "number" }, which: { type: "number" } } }),
    execute: async ({ n, which }) => result(n, which),
  }),
};

/** A whole talk, whose history the application holds; `between` is called before each turn. */
async function talk(model, place, { stream = false, between = async () => {} } = {}) {
  const messages = [];
  for (let n = 0; n < TURNS; n++) {
    await between(n);
    messages.push({ role: "user", content: question(n) });
    const asked = { model, instructions: SYSTEM, messages, tools, stopWhen: stepCountIs(4), providerOptions: { om: place } };
    if (stream) {
      const reply = streamText(asked);
      await reply.consumeStream({ onError: (error) => assert.fail(error) });
      messages.push(...(await reply.response).messages);
    } else messages.push(...(await generateText(asked)).response.messages);
  }
  return messages;
}

for (const stream of [false, true]) {
  test(`a talk of ${TURNS} turns, ${stream ? "streamed" : "at once"}, with om api killed in the middle: nothing is lost or twice`, { timeout: 120_000 }, async () => {
    const place = { resourceId: `ai-${stream}`, threadId: "t-1" };
    const prompts = new Prompts();
    const model = wrapLanguageModel({ model: scripted(prompts), middleware: memoryMiddleware({ memory }) });
    const between = async (n) => {
      if (n % 5 === 0) await sleep(250); // so that workers come by
      if (n !== 31 || stream) return;
      await api.kill();
      setTimeout(() => api.start(), 300);
    };
    const messages = await talk(model, place, { stream, between });

    assert.ok(prompts.withNotes > 30, `only ${prompts.withNotes} prompts had notes`);
    assert.ok(prompts.longest < messages.length, `${prompts.longest} messages were sent of ${messages.length}`);
    await assertActivatedTwice(memory, place);
    await assertKept(memory, place);
  });
}
