import assert from "node:assert/strict";
import { test } from "node:test";
import { escape } from "../dist/esm/prompts/escape.js";
import { fromKept, toWire } from "../dist/esm/prompts/messages.js";
import { cutOf, messagesOf } from "../dist/esm/prompts/view.js";

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
