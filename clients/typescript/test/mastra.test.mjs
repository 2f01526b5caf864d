// Its packages are those of test/mastra, an installation of its own: they are 150 MB.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ObservationalMemory } from "cortex-om";
import { MemoryProcessor, recallTool } from "cortex-om/mastra";
import { Api, key, sleep } from "./api.mjs";
import { SYSTEM, TURNS, Prompts, answer, assertActivatedTwice, assertKept, calledSince, question, result, turnOf } from "./talk.mjs";

const there = createRequire(new URL("mastra/package.json", import.meta.url));
const load = (name) => import(pathToFileURL(there.resolve(name)));
const { Agent } = await load("@mastra/core/agent");
const { RequestContext } = await load("@mastra/core/request-context");
const { createTool } = await load("@mastra/core/tools");
const { MockLanguageModelV3, simulateReadableStream } = await load("ai/test");
const { z } = await load("zod");

let api, memory;
before(async () => {
  api = await Api.shared();
  memory = new ObservationalMemory({ url: api.url, key, timeoutMs: 90_000, retries: 200 });
});

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

function scripted(prompts) {
  const said = (prompt) => {
    prompts.check(prompt);
    const n = turnOf(prompt);
    if (calledSince(prompt, n)) return { content: [{ type: "text", text: answer(n) }], reason: "stop" };
    const calls = Array.from({ length: n % 3 === 0 ? 2 : 1 }, (_, which) => ({
      type: "tool-call", toolCallId: `call-${n}-${which}`, toolName: "look", input: JSON.stringify({ n, which }),
    }));
    return { content: calls, reason: "tool-calls" };
  };
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const { content, reason } = said(prompt);
      return { content, finishReason: { unified: reason }, usage, warnings: [] };
    },
    doStream: async ({ prompt }) => {
      const { content, reason } = said(prompt);
      const texts = (part) => [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: part.text }, { type: "text-end", id: "1" }];
      const parts = content.flatMap((part) => (part.type === "text" ? texts(part) : [part]));
      const chunks = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason: { unified: reason }, usage }];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}

const look = createTool({
  id: "look",
  description: "Look a parcel up.",
  inputSchema: z.object({ n: z.number(), which: z.number() }),
  execute: async (asked) => result((asked.context ?? asked).n, (asked.context ?? asked).which),
});

function agentOf(model, options = {}) {
  const inputProcessors = [new MemoryProcessor({ memory, ...options })];
  return new Agent({ id: "harold", name: "harold", instructions: SYSTEM, model, tools: { look }, inputProcessors });
}

test(`a talk of ${TURNS} turns with om api killed in the middle: nothing is lost or twice`, { timeout: 200_000 }, async () => {
  const place = { resourceId: `${Date.now().toString(36)}-mastra`, threadId: "t-1" };
  const prompts = new Prompts();
  const agent = agentOf(scripted(prompts));
  const requestContext = new RequestContext([["threadId", place.threadId], ["resourceId", place.resourceId]]);
  const messages = [];
  for (let n = 0; n < TURNS; n++) {
    if (n % 5 === 0) await sleep(250); // so that workers come by
    if (n === 31) {
      await api.kill();
      setTimeout(() => api.start(), 300);
    }
    messages.push({ role: "user", content: question(n) });
    const reply = n % 2 ? await agent.generate(messages, { requestContext, maxSteps: 4 }) : await streamed(agent, messages, requestContext);
    messages.push(...reply.response.messages);
  }

  assert.ok(prompts.withNotes > 30, `only ${prompts.withNotes} prompts had notes`);
  assert.ok(prompts.longest < messages.length, `${prompts.longest} messages were sent of ${messages.length}`);
  await assertActivatedTwice(memory, place);
  await assertKept(api.url, key, place);
});

async function streamed(agent, messages, requestContext) {
  const stream = await agent.stream(messages, { requestContext, maxSteps: 4 });
  await stream.consumeStream();
  return stream.getFullOutput();
}

test("without thread and resource a call says where to name them; Mastra's own notion and the options name them", async () => {
  const prompts = [];
  const heard = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => (prompts.push(prompt), { content: [{ type: "text", text: "ok" }], finishReason: { unified: "stop" }, usage, warnings: [] }),
  });
  const place = { resourceId: `${Date.now().toString(36)}-named`, threadId: "t-1" };
  await assert.rejects(agentOf(heard).generate("hello"), (error) => /no threadId and no resourceId: pass memory: \{ thread, resource \}/.test(`${error.message} ${error.cause?.message}`));

  await agentOf(heard, place).generate("named in the options");
  await agentOf(heard).generate("named by Mastra", { requestContext: new RequestContext([["mastra__threadId", "t-2"], ["mastra__resourceId", place.resourceId]]) });
  await agentOf(heard).generate("named in the call", { memory: { thread: "t-3", resource: place.resourceId } });
  const kept = async (threadId) => (await memory.messages({ ...place, threadId })).map(({ content }) => content[0].text);
  assert.deepEqual(await kept("t-1"), ["named in the options", "ok"]);
  assert.deepEqual(await kept("t-2"), ["named by Mastra", "ok"]);
  assert.deepEqual(await kept("t-3"), ["named in the call", "ok"]);
});

test("a model looks up what was said with its tool", async () => {
  const place = { resourceId: `${Date.now().toString(36)}-tool`, threadId: "t-1" };
  await memory.addMessage({ role: "user", content: "My passport lies in the blue drawer." }, place);
  const tool = createTool(recallTool(memory, place));
  assert.match(await tool.execute({ query: "passport" }, {}), /blue drawer/);
});
