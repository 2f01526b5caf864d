// Made by `make typescript-sources`. Change om_api instead.
export const TAGS = [
  "observations",
  "thread",
  "reflection",
  "current-task",
  "suggested-response",
  "system-reminder",
  "unobserved-context",
  "memory",
  "previous-observations",
  "messages",
  "dropped",
  "task",
  "recalled"
] as const;
