/** What happens to memories, as an async iterator over server-sent events: after a break it goes on where it was. */
import { EventsExpiredError, StoreError } from "./errors.js";
import { sleep, timed, type Transport } from "./transport.js";
import type { Call, Event } from "./types.js";

const SILENCE_MS = 45_000; // the server says at least every 15 s that it lives
const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

export interface EventOptions extends Call {
  /** Only these kinds; else all. */
  kinds?: string[];
  /** Only of this resource, or of these. */
  resourceId?: string | string[];
  /** Begin behind this event's id; `0` for all that are kept; from now on unless you say otherwise. */
  after?: string;
}

/** Every event from now on, or behind `after`; ends when `signal` is aborted, by throwing its reason. */
export async function* eventsOf(transport: Transport, { kinds, resourceId, after, signal }: EventOptions): AsyncGenerator<Event, void, void> {
  const query = { kinds, resource: resourceId };
  const asked = after === undefined ? { ...query, limit: 1 } : undefined;
  let place = after ?? (await transport.json<{ after: string }>("/events", { query: asked!, signal })).after;
  for (let failures = 0; ; failures++) {
    try {
      for await (const { id, event } of streamed(transport, { ...query, after: place }, signal)) {
        [place, failures] = [id, -1];
        if (event?.kind === ("gap" as Event["kind"])) throw expired(place);
        if (event) yield event;
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!(error instanceof StoreError)) throw error;
    }
    await sleep(Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.max(0, failures)) * (0.5 + Math.random() / 2), signal);
  }
}

function expired(after: string): EventsExpiredError {
  const text = `events between the last one seen and ${after} are no longer kept: read the state anew, then events({ after: "${after}" })`;
  return new EventsExpiredError(text, after);
}

/** One stream, until either side ends it; an entry without an event says how far the server has read. */
async function* streamed(
  transport: Transport, query: Record<string, unknown>, signal: AbortSignal | undefined,
): AsyncGenerator<{ id: string; event?: Event }, void, void> {
  let silence = timed(signal, SILENCE_MS);
  const own = new AbortController();
  const end = () => own.abort(signal?.reason);
  const heard = () => {
    silence.done();
    silence = timed(signal, SILENCE_MS);
    silence.signal.addEventListener("abort", end, { once: true });
    if (silence.signal.aborted) end();
  };
  heard();
  try {
    const reply = await transport.send("/events", { query, signal: own.signal }, { Accept: "text/event-stream" });
    if (!reply.body) return;
    let [left, id, data] = ["", "", ""];
    for await (const text of texts(reply.body)) {
      heard();
      const lines = (left + text).split("\n");
      left = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("id: ")) id = line.slice(4);
        else if (line.startsWith("data: ")) data = line.slice(6);
        else if (line === "" && id) {
          yield data ? { id, event: JSON.parse(data) as Event } : { id };
          [id, data] = ["", ""];
        }
      }
    }
  } catch (error) {
    if (error instanceof Error && error.name.endsWith("Error") && "status" in error) throw error;
    throw new StoreError("the stream of events broke off", { cause: error });
  } finally {
    silence.done();
    own.abort();
  }
}

async function* texts(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
