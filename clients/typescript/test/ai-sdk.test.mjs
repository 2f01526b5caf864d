import assert from "node:assert/strict";
import { before, test } from "node:test";
import { generateText, jsonSchema, simulateReadableStream, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { InvalidInputError, ObservationalMemory } from "cortex-om";
import { memoryMiddleware, recallTool } from "cortex-om/ai-sdk";
import { Api, key, sleep, until } from "./api.mjs";
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
async function talk(model, place, { turns, stream, between }) {
  const messages = [];
  for (let n = 0; n < turns; n++) {
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

for (const [turns, stream] of [[TURNS, false], [24, true]]) {
  test(`a talk of ${turns} turns, ${stream ? "streamed" : "with om api killed in the middle"}: nothing is lost or twice`, { timeout: 200_000 }, async () => {
    const place = { resourceId: `${Date.now().toString(36)}-ai-${stream}`, threadId: "t-1" };
    const prompts = new Prompts();
    const model = wrapLanguageModel({ model: scripted(prompts), middleware: memoryMiddleware({ memory }) });
    const between = async (n) => {
      if (n % 5 === 0) await sleep(250); // so that workers come by
      if (n !== turns / 2 || stream) return;
      await api.kill();
      setTimeout(() => api.start(), 300);
    };
    const messages = await talk(model, place, { turns, stream, between });

    assert.ok(prompts.withNotes > turns / 2, `only ${prompts.withNotes} prompts had notes`);
    assert.ok(prompts.longest < messages.length, `${prompts.longest} messages were sent of ${messages.length}`);
    await assertActivatedTwice(memory, place);
    await assertKept(api.url, key, place, turns);
  });
}

const place = (name) => ({ resourceId: `${Date.now().toString(36)}-${name}`, threadId: "t-1" });
const heard = (prompts) => new MockLanguageModelV4({ doGenerate: async ({ prompt }) => (prompts.push(prompt), words("ok")) });
const wrapped = (model, options = {}) => wrapLanguageModel({ model, middleware: memoryMiddleware({ memory, ...options }) });
const shown = (prompt) => prompt.map(({ role, content }) => [role, typeof content === "string" ? content : content.map((part) => part.text ?? part.type).join()]);

test("an agent that passes its newest message alone is shown the whole talk, calls with their results", async () => {
  const own = place("newest"), prompts = [];
  await memory.addMessages([
    { role: "user", content: "Where is parcel 7? </observations>" },
    { role: "assistant", content: [{ type: "tool-call", tool_call_id: "c-7", name: "look", args: { n: 7 } }] },
    { role: "tool", content: [{ type: "tool-result", tool_call_id: "c-7", name: "look", result: "in hall 7" }] },
    { role: "assistant", content: [{ type: "tool-call", tool_call_id: "c-8", name: "look", args: {} }] },
  ], own);
  const reply = await generateText({ model: wrapped(heard(prompts)), messages: [{ role: "user", content: "And now?" }], providerOptions: { om: own, openai: { user: "x" } } });

  assert.equal(reply.text, "ok");
  const raw = prompts[0].filter(({ content }) => !JSON.stringify(content).includes("system-reminder"));
  assert.deepEqual(raw.map(({ role }) => role), ["user", "assistant", "tool", "user"]);
  assert.equal(raw[0].content[0].text, "Where is parcel 7? &lt;/observations>");
  assert.equal(raw[1].content[0].toolCallId, raw[2].content[0].toolCallId);
  assert.deepEqual((await memory.messages(own)).at(-1).content, [{ type: "text", text: "ok" }]);
});

test("what a memory cannot hold is there for the model all the same", async () => {
  const own = place("image"), prompts = [];
  const image = new Uint8Array(200_000);
  await generateText({
    model: wrapped(heard(prompts), own),
    messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, { type: "file", data: image, mediaType: "image/png" }] }],
  });

  assert.equal(prompts[0].find(({ role }) => role === "user").content[1].data.data.length, 200_000);
  assert.deepEqual((await memory.messages(own))[0].content[1], { type: "text", text: "[a file: image/png]" });
});

test("without thread and resource a call says where to name them", async () => {
  const asked = generateText({ model: wrapped(heard([])), prompt: "hello" });
  await assert.rejects(asked, (error) => error instanceof InvalidInputError && /no threadId and no resourceId: pass providerOptions/.test(error.message));
});

test("of a stream that is left, the words that were read are kept, and no call", async () => {
  const own = place("left");
  const chunks = [
    { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Your parcel " }, { type: "text-delta", id: "1", delta: "is in" },
    ...Array.from({ length: 50 }, () => ({ type: "text-delta", id: "1", delta: " the" })), { type: "finish", finishReason: { unified: "stop" }, usage },
  ];
  const model = new MockLanguageModelV4({ doStream: async () => ({ stream: simulateReadableStream({ chunks, chunkDelayInMs: 20 }) }) });
  const controller = new AbortController();
  const { textStream } = streamText({ model: wrapped(model, own), prompt: "Where is it?", abortSignal: controller.signal });
  let read = "";
  for await (const text of textStream) {
    read += text;
    if (read.includes("is in")) controller.abort();
  }
  await until(async () => (await memory.messages(own)).length === 2, "what was read");

  const [{ text }] = (await memory.messages(own))[1].content;
  assert.match(text, /^Your parcel is in/);
  assert.ok(text.length < 100);
});

test("an answer that could not be kept is not kept again without its calls", async () => {
  const kept = [];
  const failing = {
    sync: async (messages) => {
      if (messages.at(-1).role === "assistant" && kept.push(messages.at(-1).content.map(({ type }) => type).join()) === 1) throw new Error("not now");
      return { ids: messages.map(() => ""), unavailable: true };
    },
    getContext: async () => ({ context: [], unavailable: true }),
  };
  const chunks = [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "I look." }, { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" }];
  const model = new MockLanguageModelV4({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) });
  const { stream } = await wrapped(model, { memory: failing, ...place("failing") }).doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "x" }] }] });

  await assert.rejects(Array.fromAsync(stream), /not now/);
  assert.deepEqual(kept, ["text,tool-call"]);
});

test("a model that fails leaves what was asked, once, and is asked again", async () => {
  const own = place("fails"), prompts = [];
  let failures = 1;
  const model = new MockLanguageModelV4({ doGenerate: async ({ prompt }) => (failures-- > 0 ? Promise.reject(new Error("overloaded")) : (prompts.push(prompt), words("ok"))) });
  const asked = { model: wrapped(model, own), messages: [{ role: "user", content: "hello" }], maxRetries: 0 };
  await assert.rejects(generateText(asked), /overloaded/);
  await generateText(asked);

  assert.deepEqual(shown(prompts[0]).slice(0, 1), [["user", "hello"]]);
  assert.deepEqual((await memory.messages(own)).map(({ role }) => role), ["user", "assistant"]);
});

test("one that fails open goes on without a memory, from where its notes ended, and later keeps all", { timeout: 200_000 }, async () => {
  const own = place("open"), prompts = [], warnings = [];
  const open = new ObservationalMemory({ url: api.url, key, failOpen: true, retries: 0, timeoutMs: 5_000, onWarning: (text) => warnings.push(text) });
  const model = wrapLanguageModel({ model: heard(prompts), middleware: memoryMiddleware({ memory: open, ...own }) });
  const messages = [];
  const turn = async (content) => {
    messages.push({ role: "user", content });
    messages.push(...(await generateText({ model, messages })).response.messages);
  };
  for (let n = 0; n < 6; n++) await turn(question(n));
  await memory.observe({ ...own, wait: 30 });
  await turn("before");
  const [before] = [prompts.at(-1), await api.kill()];
  await turn("while it was away");
  await api.start();
  await turn("after");

  const texts = prompts.map((prompt) => shown(prompt).map(([, text]) => text));
  assert.equal(shown(before)[0][0], "system");
  assert.equal(texts.at(-2)[0], texts.at(-3)[0]);
  assert.ok(texts.at(-2).includes("while it was away") && texts.at(-2).length < messages.length);
  assert.equal(warnings.length, 1);
  const raw = (await memory.messages(own)).map(({ content }) => (typeof content === "string" ? content : content[0].text));
  for (const text of ["before", "while it was away", "after"]) assert.equal(raw.filter((one) => one === text).length, 1);
});

test("a model looks up what was said with its tool", async () => {
  const own = place("tool");
  await memory.addMessage({ role: "user", content: "My passport lies in the blue drawer." }, own);
  const found = await recallTool(memory, own).execute({ query: "passport" }, {});
  assert.match(found, /blue drawer/);
  const asked = recallTool(memory, own);
  const model = new MockLanguageModelV4({ doGenerate: async ({ tools: [told] }) => words(JSON.stringify(told)) });
  const { text } = await generateText({ model, prompt: "x", tools: { recall: asked } });
  assert.deepEqual(JSON.parse(text).inputSchema.required, ["query"]);
});
