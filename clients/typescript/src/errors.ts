/** Errors as classes. Every message says what, where, what is permitted, and what to do next. */

/** The root: catch it to catch everything this package raises on purpose. */
export class OMError extends Error {
  override name = "OMError";
  /** The HTTP status that was answered, where one was. */
  readonly status: number | undefined;

  constructor(message: string, options: { status?: number | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = options.status;
  }
}

/** A message, an id or an option that cannot be accepted; nothing was written. */
export class InvalidInputError extends OMError {
  override name = "InvalidInputError";
  /** What of a request is wrong, and where. */
  readonly errors: readonly { where: string; what: string }[];

  constructor(
    message: string,
    options: { status?: number; errors?: readonly { where: string; what: string }[]; cause?: unknown } = {},
  ) {
    super(message, options);
    this.errors = options.errors ?? [];
  }
}

/** What was named is not there, such as a resource of which nothing is kept. */
export class NotFoundError extends InvalidInputError {
  override name = "NotFoundError";
}

/** No key, one that nobody knows, or one that may not do this; asking again changes nothing. */
export class NotPermittedError extends OMError {
  override name = "NotPermittedError";
}

/**
 * The memory did not do what was asked.
 *
 * `stored` says what became of a write: true, it is kept; false, it is not; null, nobody can know, or a part of it is kept: repeat the
 * call with the same ids, which changes nothing of what is.
 */
export class StoreError extends OMError {
  override name = "StoreError";
  readonly stored: boolean | null;

  constructor(message: string, options: { status?: number; stored?: boolean | null; cause?: unknown } = {}) {
    super(message, options);
    this.stored = options.stored ?? null;
  }
}

/** More was asked than the key or the resource may; `retryAfter`: seconds until the same call is taken. */
export class RateLimitedError extends StoreError {
  override name = "RateLimitedError";
  readonly retryAfter: number;

  constructor(message: string, options: { status?: number; stored?: boolean | null; retryAfter: number }) {
    super(message, options);
    this.retryAfter = options.retryAfter;
  }
}

/** Nobody answered at the address. */
export class UnreachableError extends StoreError {
  override name = "UnreachableError";
}

/** The call took longer than `timeoutMs`, its repetitions included. */
export class RequestTimeoutError extends StoreError {
  override name = "RequestTimeoutError";
}

/** What answers is no `om api`: a proxy's page, or another program. */
export class UnexpectedReplyError extends StoreError {
  override name = "UnexpectedReplyError";
}

/** Between the id after which events were to go on and the next one, some are no longer kept. */
export class EventsExpiredError extends OMError {
  override name = "EventsExpiredError";
  /** Where to go on: events behind it are kept. */
  readonly after: string;

  constructor(message: string, after: string) {
    super(message);
    this.after = after;
  }
}
