import { shortReply } from '../domain/outcome.ts';
import type { Log } from '../lib/log.ts';
import type { Event, Events, Unsubscribe } from './events.ts';

type EventOf<T extends Event['type']> = Extract<Event, { type: T }>;

/** Characters of a peer's reply in a line. */
const MAX_REPLY = 200;

/**
 * Logs what happens to messages: one line for each accepted message, for each recipient of an attempt, and for each
 * refusal, pause and fault.
 */
export function logEvents(events: Events, log: Log): Unsubscribe {
  // Each event goes to the writer of its own type, which the table's type says and TypeScript cannot see here.
  return events.on((event) => (WRITERS[event.type] as (event: Event, log: Log) => void)(event, log));
}

/** The log lines of each event. */
const WRITERS: { readonly [T in Event['type']]: (event: EventOf<T>, log: Log) => void } = {
  accepted: logAccepted,
  attempted: logAttempt,
  acted: logAct,
  expired: ({ messageId, recipients }, log) => {
    for (const { address: recipient, relay } of recipients)
      log.info('delivery.expired', { messageId, relay: relay ?? undefined, recipient });
  },
  cancelled: ({ messageId, recipients }, log) => {
    for (const recipient of recipients) log.info('delivery.cancelled', { messageId, recipient });
  },
  denied: logDenial,
  refused: logRefusal,
  lane_paused: logPause,
  lane_resumed: ({ lane }, log) => log.info('lane.resumed', { lane }),
  probed: logProbe,
  // The lane's own lines say it.
  relay_rests: () => {},
  relay_recovered: () => {},
  quota: logQuota,
  reclaimed: logReclaim,
  reported: ({ messageId, reportId, kind, recipients }, log) =>
    log.info('message.reported', { messageId, reportId, kind, recipients }),
  report_suppressed: ({ messageId, kind, recipients }, log) =>
    log.warn('message.report_suppressed', { messageId, kind, recipients }),
  report_unwritten: ({ messageId, kind, recipients }, log) =>
    log.warn('message.report_unwritten', { messageId, kind, recipients }),
  rerouted: ({ moved, lost }, log) => log[lost > 0 ? 'warn' : 'info']('queue.rerouted', { moved, lost }),
  // Logged where they happen, with what is known there.
  hook: () => {},
  feedback: () => {},
  webhook_tried: () => {},
  webhooks_pending: () => {},
  suppressed: ({ messageId, recipients }, log) => {
    for (const { address: recipient, reason } of recipients)
      log.info('delivery.suppressed', { messageId, recipient, code: reason });
  },
  told: logTold,
  dmarc_report: ({ domain, verdict: code }, log) => log.info('dmarc.report', { domain, code }),
  guarded: ({ domain }, log) => log.warn('suppressions.guarded', { domain }),
  alert: ({ alert, rule, subject, severity, text: message, state }, log) => {
    const told = { alert, rule, subject, severity, message };
    if (state === 'firing') log.warn('alert.firing', told);
    else log.info('alert.resolved', told);
  },
  alert_told: ({ alert, channel, error }, log) => {
    if (error === null) log.info('alert.told', { alert, channel });
    else log.warn('alert.not_told', { alert, channel, message: error });
  },
  // Recorded elsewhere, with the actor.
  // The reception logs it, with what is known of who it was.
  signed_in: () => {},
  operated: () => {},
  fault: ({ code, message }, log) => log.error('service.fault', { code, message }),
};

/** Confirmations are as many as messages; what was told twice is no news. */
function logTold(told: EventOf<'told'>, log: Log): void {
  const { kind, source, verdict, messageId, address, bounce, entry } = told;
  const level = kind === 'confirmation' || verdict !== 'matched' ? 'debug' : 'info';
  log[level]('feedback.told', {
    code: verdict,
    kind,
    source,
    messageId: messageId ?? undefined,
    recipient: address ?? undefined,
    bounce: bounce ?? undefined,
    suppression: entry?.id,
  });
}

// The events stand here as they are, which a test holds against the documents.
function logAct({ act, messageId }: EventOf<'acted'>, log: Log): void {
  log.info(
    act === 'cancel'
      ? 'message.cancel_requested'
      : act === 'retry'
        ? 'message.retried'
        : act === 'reschedule'
          ? 'message.rescheduled'
          : 'message.discarded',
    { messageId },
  );
}

/** Repeated rests are for debugging: ten thousand lanes that stay down would log twice a minute each. */
function logPause({ lane, reply, pauseMs, again }: EventOf<'lane_paused'>, log: Log): void {
  const { cause: code, text } = reply;
  log[again ? 'debug' : 'warn']('lane.paused', { lane, code, reply: text, pauseMs: Math.round(pauseMs) });
}

function logProbe({ relay, host, trouble, nextProbeAt }: EventOf<'probed'>, log: Log): void {
  if (trouble === null || nextProbeAt === null) {
    log.info('relay.probed', { relay, host, code: 'well' });
    return;
  }
  const next = new Date(nextProbeAt).toISOString();
  log.info('relay.probed', {
    relay,
    host,
    code: shortReply(trouble),
    reply: trouble.text,
    nextProbeAt: next,
  });
}

/** A step of a warm-up is meant to be used up; a quota is not. */
function logQuota({ relay, news, allowance, used, warming }: EventOf<'quota'>, log: Log): void {
  const level = warming ? 'info' : 'warn';
  if (news === 'low') log[level]('relay.quota_low', { relay, allowance, used });
  else log[level]('relay.quota_used_up', { relay, allowance, used });
}

function logAccepted(accepted: EventOf<'accepted'>, log: Log): void {
  const { messageId, source: via, deliveries, sizeBytes } = accepted;
  const requestId = accepted.requestId ?? undefined;
  const keyId = accepted.keyId ?? undefined;
  log.info('message.accepted', {
    messageId,
    requestId,
    via,
    keyId,
    recipients: deliveries.length,
    sizeBytes,
  });
}

function logDenial(denied: EventOf<'denied'>, log: Log): void {
  const { reason, sourceAddress, requestId, count } = denied;
  // The refusal of a key is logged where it happens, with the reason, which is unknown here.
  if (reason === 'unauthorized') return;
  const keyId = denied.keyId ?? undefined;
  log.info('source.denied', { code: reason, source: sourceAddress ?? undefined, keyId, requestId, count });
}

function logRefusal(refused: EventOf<'refused'>, log: Log): void {
  const { reason: code, reply, sourceAddress: source, requestId, count } = refused;
  const keyId = refused.keyId ?? undefined;
  log.info('message.refused', { code, reply, source, keyId, requestId, count });
}

function logAttempt(attempt: EventOf<'attempted'>, log: Log): void {
  const { messageId, relay, host, durationMs } = attempt;
  for (const { address, state, outcome, cancelled } of attempt.results) {
    const { reply } = outcome;
    const fields = {
      messageId,
      relay,
      host: host ?? undefined,
      durationMs: Math.round(durationMs),
      recipient: address,
      code: reply.code ?? reply.cause,
    };
    if (outcome.kind === 'delivered') log.info('delivery.delivered', fields);
    else
      log.info(
        cancelled ? 'delivery.cancelled' : state === 'failed' ? 'delivery.failed' : 'delivery.deferred',
        {
          ...fields,
          outcome: outcome.kind,
          reply: reply.text.slice(0, MAX_REPLY),
        },
      );
  }
}

function logReclaim({ released, unknown }: EventOf<'reclaimed'>, log: Log): void {
  if (unknown > 0) log.warn('deliveries.reclaimed', { released, unknown });
  else if (released > 0) log.info('deliveries.reclaimed', { released, unknown });
}
