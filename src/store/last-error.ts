import type { Attempt } from '../domain/attempt.ts';
import type { LastError } from '../domain/message.ts';
import type { Outcome, Reply } from '../domain/outcome.ts';

const CLASSES: Readonly<Record<Outcome['kind'], LastError['class']>> = {
  delivered: 'unknown',
  deferred: 'transient',
  rejected: 'permanent',
  unknown: 'unknown',
};

/** The class of what an attempt did for the recipient at this place of the envelope. */
export function classOf(attempt: Attempt, index: number): LastError['class'] {
  const kind = attempt.results.find((result) => result.index === index)?.outcome.kind ?? 'unknown';
  return CLASSES[kind];
}

/** The error that a reply is for the recipient, as the message keeps it. */
export function lastErrorOf(reply: Reply, kind: LastError['class'], recipient: string): LastError {
  return {
    code: reply.cause,
    class: kind,
    message: reply.text,
    recipient,
    ...(reply.code === null ? {} : { replyCode: reply.code }),
    ...(reply.enhanced === null ? {} : { enhancedCode: reply.enhanced }),
  };
}
