// A talk of many turns with tools, and what every prompt of it must be.
import assert from "node:assert/strict";

export const SYSTEM = "You are Harold's assistant. Answer in one sentence.";
export const TURNS = 60;
const PADDING = "and what else was said that day about the ferry, the harbour and the weather over the fjord. ";

/** What the user says at a turn; each text stands in no other one. */
export const question = (n) => `Question number marker${n}q: where is parcel ${n}? ${PADDING.repeat(2)}`;
export const result = (n, which) => `Parcel ${n} is in hall marker${n}r${which}.`;
export const answer = (n) => `It is in the hall that marker${n}a names.`;

const parts = ({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content);
const textOf = (message) => parts(message).map((part) => part.text ?? "").join("\n");
const outputOf = (part) => part.output ?? part.result;

/** Whether a message is a question of the user's: what the memory says in his place, such as the current task, may tell of one. */
const isQuestion = (message) => message.role === "user" && textOf(message).startsWith("Question");

/** The number of the turn that a prompt is of: that of its newest question, which is there however long the turn goes on. */
export function turnOf(prompt) {
  const asked = prompt.findLast(isQuestion);
  assert.ok(asked, "the newest question is not in the prompt");
  return Number(textOf(asked).match(/marker(\d+)q/)[1]);
}

/** How many tools were called since the newest question. */
export function calledSince(prompt, n) {
  const from = prompt.findLastIndex((message) => isQuestion(message) && textOf(message).includes(`marker${n}q:`));
  return prompt.slice(from).filter(({ role }) => role === "tool").length;
}

/** Checks prompts one after the other. */
export class Prompts {
  seen = [];
  withNotes = 0;
  #notes = "";

  check(prompt) {
    this.seen.push(prompt);
    assert.equal(prompt[0].role, "system");
    assert.equal(textOf(prompt[0]), SYSTEM);
    this.#checkNotes(prompt);
    const raw = prompt.filter(({ role }) => role !== "system");
    const calls = new Map();
    for (const message of raw) {
      for (const part of parts(message)) {
        if (part.type === "tool-call") calls.set(part.toolCallId, calls.has(part.toolCallId) ? assert.fail("a call twice") : "open");
        if (part.type !== "tool-result") continue;
        assert.equal(calls.get(part.toolCallId), "open", `the result of ${part.toolCallId} has no call, or comes twice`);
        calls.set(part.toolCallId, "done");
      }
    }
    assert.deepEqual([...calls].filter(([, state]) => state === "open"), [], "a call without its result");
    const questions = raw.filter(isQuestion).map(textOf);
    assert.equal(new Set(questions).size, questions.length, "a question twice");
    assert.equal(turnOf(prompt), Math.max(...questions.map((text) => Number(text.match(/marker(\d+)q/)[1]))));
  }

  #checkNotes(prompt) {
    const notes = prompt.slice(1).find(({ role }) => role === "system");
    assert.ok(prompt.filter(({ role }) => role === "system").length <= 2);
    if (!notes) return;
    this.withNotes++;
    const text = textOf(notes);
    const reflected = text.includes("<reflection") && text.split("</reflection>")[0] !== this.#notes.split("</reflection>")[0];
    if (!reflected) assert.ok(text.startsWith(this.#notes), "notes that were shown have changed");
    this.#notes = text;
  }

  get longest() {
    return Math.max(...this.seen.map((prompt) => prompt.length));
  }
}

/** Every message of the talk is kept once, wherever it stands by now: a question, its calls, their results, an answer. */
export async function assertKept(url, key, { resourceId }, turns = TURNS) {
  const reply = await fetch(`${url}/v1/resources/${resourceId}/export`, { headers: { Authorization: `Bearer ${key}` } });
  const lines = (await reply.text()).trim().split("\n").map((line) => JSON.parse(line));
  const kept = lines.filter(({ kind }) => kind === "message").map(({ message }) => message);
  const wanted = Array.from({ length: turns }, (_, n) => [`marker${n}q`, `call-${n}-0`, `marker${n}r0`, `marker${n}a`]).flat();
  const times = (word) => kept.filter((message) => message.includes(word)).length;
  const found = wanted.map((word) => [word, times(word)]);

  assert.equal(kept.length, turns * 4, "a message too many, or too few");
  assert.deepEqual(found.filter(([, n]) => n === 0), []);
  assert.deepEqual(found.filter(([word, n]) => word.startsWith("marker") && n !== 1), []);
}

/** The threshold was passed at least twice. */
export async function assertActivatedTwice(memory, place) {
  const [observed, reflected] = [await memory.observations(place), await memory.reflections(place)];
  assert.ok(new Set(observed.map(({ activation }) => activation)).size + reflected.length >= 2, "observed once at most");
}

export { parts, textOf, outputOf };
