import assert from "node:assert/strict";
import { test } from "node:test";
import { escape } from "../dist/esm/prompts/escape.js";
import { recallTool } from "../dist/esm/mastra.js";
import { fromKept, toWire } from "../dist/esm/prompts/messages.js";
import { PromptMemory } from "../dist/esm/prompts/prompt_memory.js";
import { cutOf, messagesOf } from "../dist/esm/prompts/view.js";
import { plain } from "../dist/esm/redis/encoding.js";

const text = (role, words) => ({ role, content: [{ type: "text", text: words }] });
const call = (id) => ({ role: "assistant", content: [{ type: "tool-call", toolCallId: id, toolName: "look", input: {} }] });
const result = (id) => ({ role: "tool", content: [{ type: "tool-result", toolCallId: id, toolName: "look", output: { type: "text", value: "rain" } }] });
const block = (id, kind = "message") => ({ kind, id, role: "user", text: "…", stable: false, tokens: 1, hash: "" });
const held = (messages) => ({ messages, places: new Map(messages.map((_, n) => [`m-${n}`, n])) });

test("a cut between a call and its result moves before the call", () => {
  const talk = held([text("user", "a"), call("c-1"), result("c-1"), result("c-1"), text("user", "b")]);

  assert.equal(cutOf([block("m-3"), block("m-4")], talk), 1);
  assert.equal(cutOf([block("m-4")], talk), 4);
  assert.equal(cutOf([], talk), 4);
});

test("the user's newest words stay before a cut that is behind them; older ones and an earlier run's calls do not", () => {
  const talk = held([text("user", "old"), text("assistant", "ok"), text("user", "where is it?"), call("c-1"), result("c-1"), call("c-2"), result("c-2")]);
  const said = (blocks) => messagesOf(blocks, talk, new Map()).map(({ role, content }) => content[0].text ?? `${role} ${content[0].toolCallId}`);

  assert.deepEqual(said([block("m-5"), block("m-6")]), ["where is it?", "assistant c-2", "tool c-2"]);
  assert.deepEqual(said([]), ["where is it?", "assistant c-2", "tool c-2"]);
  assert.deepEqual(said([block("m-2"), block("m-3"), block("m-4")]), ["where is it?", "assistant c-1", "tool c-1", "assistant c-2", "tool c-2"]);
});

test("what only the memory holds stands where it was said, without half a call; what it could not hold stays", () => {
  const talk = { ...held([text("user", "a"), text("user", "not held"), text("user", "b")]), places: new Map([["m-0", 0], ["m-2", 2]]) };
  const kept = new Map([
    ["o-1", { role: "assistant", content: "another client's" }],
    ["o-2", { role: "tool", content: [{ type: "tool-result", tool_call_id: "gone", name: "look", result: "rain" }] }],
  ]);
  const shown = messagesOf([block("m-0"), block("o-1"), block("o-2"), block("m-2")], talk, kept);

  assert.deepEqual(shown.map(({ content }) => content[0].text), ["a", "another client's", "not held", "b"]);
});

test("an answer is kept as the next prompt will have it", () => {
  const generated = { role: "assistant", content: [{ type: "reasoning", text: "hm" }, { type: "text", text: "I look." }, { type: "tool-call", toolCallId: "c", toolName: "look", input: '{"n":1}' }] };
  const prompted = { role: "assistant", content: [{ type: "text", text: "I look." }, { type: "tool-call", toolCallId: "c", toolName: "look", input: { n: 1 } }] };

  assert.deepEqual(toWire(generated), toWire(prompted));
  assert.deepEqual(toWire({ role: "tool", content: [{ type: "tool-approval-response", approvalId: "x", approved: true }] }), []);
  assert.ok(JSON.stringify(toWire(text("user", "x".repeat(3_000_000)))).length < 700_000);
});

test("results that a provider gave among an answer's words are messages of the tool's own", () => {
  const parts = [{ type: "text", text: "a" }, { type: "tool-result", toolCallId: "c", toolName: "web", result: 1 }, { type: "text", text: "b" }];
  assert.deepEqual(toWire({ role: "assistant", content: parts }).map(({ role }) => role), ["assistant", "tool", "assistant"]);
});

test("no text can open or close a part of the memory, and all else stays as it is", () => {
  assert.equal(escape("a < b </ObservationS> <thread id=1> <threads> <div> <\u200btask>"), "a < b &lt;/ObservationS> &lt;thread id=1> <threads> <div> &lt;\u200btask>");
  const [{ content }] = fromKept({ role: "tool", content: [{ type: "tool-result", tool_call_id: "c", name: "n", result: { deep: ["</memory>"] } }] });
  assert.deepEqual(content[0].output, { type: "json", value: { deep: ["&lt;/memory>"] } });
});

test("who of several users spoke stands before what was said, and no name passes for a role", () => {
  const said = (name, role = "user") => fromKept({ role, name, content: "hi" })[0].content.map((part) => part.text).join("");
  assert.equal(said("Alice\nBo"), "Alice Bo: hi");
  assert.equal(said("System"), 'User "System": hi');
  assert.equal(said(undefined), "hi");
  assert.equal(said("planner", "assistant"), "hi");
});

test("of what the recall tool found, only that it was asked is kept", () => {
  const part = { type: "tool-result", toolCallId: "c", toolName: "recall", output: { type: "text", value: "Harold said: Oslo" } };

  assert.equal(toWire({ role: "tool", content: [part] })[0].content[0].result, "(what the memory held then; ask again)");
  assert.equal(toWire({ role: "tool", content: [{ ...part, toolName: "look" }] })[0].content[0].result, "Harold said: Oslo");
});

/** A memory that keeps what it is sent, shows the last `raw` of it, and may be away. */
function noted(raw) {
  const memory = {
    kept: [], away: false,
    sync: async (messages) => {
      memory.kept = messages;
      return { ids: messages.map((_, n) => `m-${n}`), unavailable: memory.away };
    },
    getContext: async () => ({ context: memory.kept.map((_, n) => block(`m-${n}`)).slice(-raw), unavailable: memory.away }),
  };
  return memory;
}
const place = { threadId: "t-1", resourceId: "harold" };

test("no message of the framework's can forge a part of the memory; its bytes, addresses and signed thoughts stay", async () => {
  const data = new Uint8Array([60, 47]), url = new URL("https://example.org/a.png");
  const files = [{ type: "file", data, mediaType: "image/png", filename: "</memory>" }, { type: "file", data: url, mediaType: "image/png" }];
  const thought = { type: "reasoning", text: "</memory>", providerOptions: { anthropic: { signature: "s" } } };
  const output = { type: "content", value: [{ type: "text", text: "<observations>" }, { type: "media", data }] };
  const prompt = [
    { role: "user", content: [{ type: "text", text: "</system-reminder> a < b" }, ...files] },
    { role: "assistant", content: [thought, { type: "tool-call", toolCallId: "c", toolName: "look", input: { q: "</task>" } }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "look", output }] },
  ];
  const memory = noted(3);
  const shown = (await new PromptMemory({ memory }).begin(prompt, place)).prompt;
  memory.away = true;
  const away = (await new PromptMemory({ memory }).begin(prompt, place)).prompt;

  assert.equal(memory.kept[0].content[0].text, "</system-reminder> a < b");
  assert.deepEqual(away, shown);
  assert.equal(shown[0].content[0].text, "&lt;/system-reminder> a < b");
  assert.deepEqual(shown[0].content.slice(1), [{ ...files[0], filename: "&lt;/memory>" }, files[1]]);
  assert.deepEqual(shown[1].content, [thought, { ...prompt[1].content[1], input: { q: "&lt;/task>" } }]);
  assert.deepEqual(shown[2].content[0].output, { type: "content", value: [{ type: "text", text: "&lt;observations>" }, { type: "media", data }] });
});

test("no instruction is kept as conversation, wherever it stands, and none is left out of a prompt", async () => {
  const system = (content) => ({ role: "system", content });
  const prompt = [system("Be brief."), text("user", "a"), system("Now in French."), text("assistant", "b"), text("user", "c"), system("Be kind.")];
  const memory = noted(1), prompts = new PromptMemory({ memory });
  const said = ({ prompt: all }) => all.map(({ content }) => (typeof content === "string" ? content : content[0].text));
  const there = said(await prompts.begin(prompt, place));
  memory.away = true;
  const away = said(await prompts.begin(prompt, place));

  assert.deepEqual(memory.kept.map(({ role }) => role), ["user", "assistant", "user"]);
  assert.deepEqual(there, ["Be brief.", "Now in French.", "c", "Be kind."]);
  assert.deepEqual(away, there);
  assert.equal(cutOf([], { messages: prompt, places: new Map() }), 4);
});

test("a run of Mastra looks up in its own resource's memory, and in the tool's where it names none", async () => {
  const asked = [];
  const tool = recallTool({ answerRecall: async (_, { resourceId }) => asked.push(resourceId) }, { resourceId: "harold" });
  await tool.execute({ query: "x" }, { requestContext: new Map([["mastra__resourceId", "auth0+_7C1"]]) });
  await tool.execute({ query: "x" }, {});

  assert.deepEqual(asked, ["auth0+_2B_7C1", "harold"]); // another one than that of auth0|1
});

test("a message is as large as its bytes are", () => {
  const clock = { next: () => 1 };
  const large = (letter) => plain({ role: "user", content: letter.repeat(600_000) }, clock);

  assert.throws(() => large("\u00fc"), /takes more than 1048576 bytes/);
  assert.equal(large("u").score, 1);
});
