/** Messages of a prompt, as AI SDK and Mastra hand it to a model, in the memory's form and back. */
import type { KeptMessage } from "../types.js";
import { RECALL_TOOLS } from "../generated/recall_tool.js";
import { escape, escapedAll } from "./escape.js";

/** What the prompts of all their versions have in common. */
export interface PromptPart {
  type: string;
  [name: string]: any;
}
export interface PromptMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | PromptPart[];
}
/** A message as it is sent to the memory. */
export interface WireMessage {
  role: string;
  content: string | Record<string, unknown>[];
}

const MOST_DATA = 65_536; // characters of a file that are kept; of larger ones it is kept that they were there
const RECALLED = "(what the memory held then; ask again)"; // kept with what was found, a memory would feed on itself
const LONGEST_SPEAKER = 64; // characters of a name
const MOST = 600_000; // characters of all parts of a message

/** A message as the memory keeps it: none where nothing of it can be kept, several where results stand among words. */
export function toWire({ role, content }: PromptMessage): WireMessage[] {
  if (typeof content === "string") return content ? [{ role, content }] : [];
  const made: { role: string; content: Record<string, unknown>[] }[] = [];
  for (const part of content) {
    const own = partOf(part, Math.max(1_000, MOST / content.length));
    if (!own) continue;
    const side = own["type"] === "tool-result" ? "tool" : role === "tool" ? "assistant" : role;
    if (made.at(-1)?.role === side) made.at(-1)?.content.push(own);
    else made.push({ role: side, content: [own] });
  }
  return made;
}

function partOf(part: PromptPart, most: number): Record<string, unknown> | undefined {
  if (part.type === "text") return part["text"] ? { type: "text", text: clipped(part["text"], most) } : undefined;
  if (part.type === "file" || part.type === "image") return fileOf(part);
  if (part.type === "tool-call") {
    return { type: "tool-call", tool_call_id: part["toolCallId"], name: part["toolName"], args: isRecall(part) ? {} : clipped(asObject(part["input"]), most) };
  }
  if (part.type !== "tool-result") return undefined; // thoughts and approvals are of this run alone
  const { value, failed } = outputOf(part["output"] ?? { type: part["isError"] ? "error-json" : "json", value: part["result"] });
  const result = { type: "tool-result", tool_call_id: part["toolCallId"], name: part["toolName"], result: isRecall(part) ? RECALLED : clipped(value, most) };
  return failed ? { ...result, is_error: true } : result;
}

function isRecall(part: PromptPart): boolean {
  return part["toolName"] === RECALL_TOOLS.openai.function.name;
}

/** A call's arguments: a generated call has them as JSON. */
function asObject(input: unknown): unknown {
  if (typeof input !== "string") return input ?? {};
  try {
    return JSON.parse(input || "{}") as unknown;
  } catch {
    return { input };
  }
}

function outputOf(output: PromptPart): { value: unknown; failed: boolean } {
  const failed = output.type.startsWith("error") || output.type === "execution-denied";
  if (output.type === "execution-denied") return { value: `execution denied: ${output["reason"] ?? "no reason given"}`, failed };
  if (output.type !== "content") return { value: output["value"] ?? null, failed };
  const parts = output["value"] as PromptPart[];
  return { value: parts.map((part) => part["text"] ?? `[${part["mediaType"] ?? part.type}]`).join("\n"), failed };
}

function fileOf(part: PromptPart): Record<string, unknown> {
  const mime = String(part["mediaType"] ?? part["mimeType"] ?? "application/octet-stream");
  const given: unknown = part["data"] ?? part["image"];
  const url = addressOf(given, mime);
  const name = part["filename"] as string | undefined;
  if (url === undefined) return { type: "text", text: `[${name ?? "a file"}: ${mime}]` };
  return { type: mime.startsWith("image/") ? "image" : "file", url, mime, ...(name ? { name } : {}) };
}

function addressOf(given: unknown, mime: string): string | undefined {
  if (given instanceof URL) return given.href;
  if (typeof given === "string") return /^(https?|data):/.test(given) ? short(given) : short(`data:${mime};base64,${given}`);
  if (given instanceof Uint8Array) return given.length > MOST_DATA ? undefined : short(`data:${mime};base64,${btoa(String.fromCharCode(...given))}`);
  const tagged = given as { type?: string; url?: unknown; data?: unknown } | undefined;
  return tagged?.type === "url" || tagged?.type === "data" ? addressOf(tagged.url ?? tagged.data, mime) : undefined;
}

function short(url: string): string | undefined {
  return url.length > MOST_DATA ? undefined : url;
}

/** A value that fits, the same again of the same: a long text is cut, a long object becomes the beginning of its JSON. */
function clipped(value: unknown, most: number): any {
  if (typeof value === "string") return value.length > most ? `${value.slice(0, most)} [${value.length - most} more characters]` : value;
  const text = JSON.stringify(value);
  return text && text.length > most ? { clipped: clipped(text, most) } : value;
}

/** Who of several users speaks, on one short line; "" where a message has no name, or the name could pass for a role. */
function speakerOf(role: string, name?: string | null): string {
  if (role !== "user" || !name) return "";
  const shown = name.normalize("NFKC").replace(/[\p{C}\s:<>"[\]]+/gu, " ").trim().slice(0, LONGEST_SPEAKER);
  return /^\W*(the )?(user|human|assistant|agent|ai|model|system|developer|tool|function)\b/i.test(shown) ? `User "${shown}"` : shown;
}

/** A message that only the memory holds, as a prompt takes it; nothing in it can pass for a part of the memory. */
export function fromKept({ role, content, name }: KeptMessage): PromptMessage[] {
  const said = typeof content === "string" ? [{ type: "text", text: content }] : (content as unknown as PromptPart[]);
  const speaker = speakerOf(role, name);
  const parts = speaker ? [{ type: "text", text: `${speaker}: ` }, ...said] : said;
  const shown = (escapedAll(parts) as PromptPart[]).flatMap((part) => promptPart(part, role));
  if (role === "system") return [{ role: "system", content: shown.map((part) => part["text"] ?? "").join("\n") }];
  return shown.length ? [{ role: role as "user", content: shown }] : [];
}

/** A message of the framework's as a model may see it: what could be read as a tag of ours is written as no tag. Thoughts are signed, and stay. */
export function unforged(message: PromptMessage): PromptMessage {
  const { content } = message;
  if (message.role === "system") return message;
  if (typeof content === "string") return { ...message, content: escape(content) };
  return { ...message, content: content.map((part) => ({ ...part, ...escapedFields(part) })) };
}

function escapedFields(part: PromptPart): Record<string, unknown> {
  const names = ["text", "input", "output", "result", "filename"].filter((name) => part.type !== "reasoning" && part[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, escapedAll(part[name])]));
}

function promptPart(part: PromptPart, role: string): PromptPart[] {
  if (part.type === "text") return part["text"] ? [{ type: "text", text: part["text"] }] : [];
  if (part.type === "tool-call" && role === "assistant") {
    return [{ type: "tool-call", toolCallId: String(part["tool_call_id"]), toolName: String(part["name"]), input: part["args"] ?? {} }];
  }
  if (part.type === "tool-result" && role === "tool") {
    const { result, is_error: failed } = part;
    const text = typeof result === "string";
    const output = { type: `${failed ? "error-" : ""}${text ? "text" : "json"}`, value: result ?? null };
    return [{ type: "tool-result", toolCallId: String(part["tool_call_id"]), toolName: String(part["name"] ?? "tool"), output }];
  }
  if (part.type === "thinking" || part.type === "reasoning") return [];
  return role === "tool" ? [] : [{ type: "text", text: `[${part.type}: ${part["name"] ?? part["url"] ?? ""}]` }];
}

/** A block of the memory as a message. */
export function note(role: "system" | "user", text: string): PromptMessage {
  return { role, content: role === "system" ? text : [{ type: "text", text }] };
}
