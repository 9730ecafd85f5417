/**
 * What each provider of a channel wants to be posted, as its documentation has it. Texts of alerts are of our making, but
 * may quote a next hop: nothing in them may become a mention, a link or a command.
 */
import type { Alert } from '../domain/alert.ts';
import type { AlertChannel } from '../domain/alert-channel.ts';
import { type AlertSeverity, alertRule } from '../domain/alert-rules.ts';
import { formatTimestamp } from '../lib/clock.ts';

/** What a channel is told. */
export interface Telling {
  readonly kind: 'fired' | 'resolved' | 'test';
  readonly alert: Alert;
  /** The server's name. */
  readonly server: string;
  readonly now: number;
}

/** A request that tells it. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** What makes a request; `secret` is opened. Null: the channel lacks what it needs. */
type Shape = (telling: Telling, channel: AlertChannel, secret: string) => Post;

const COLOURS: Readonly<Record<AlertSeverity | 'resolved', number>> = {
  info: 0x2563eb,
  warning: 0xd97706,
  critical: 0xdc2626,
  resolved: 0x16a34a,
};
/** Characters of a text that every provider takes. */
const MAX_TEXT = 1_000;
const MAX_TITLE = 150;
const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

/** By kind; mail is no post. */
export const SHAPES: Readonly<Record<Exclude<AlertChannel['kind'], 'mail'>, Shape>> = {
  webhook: (telling, { url }) => ({ url: url ?? '', headers: {}, body: webhookBody(telling) }),
  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/: `text` is what notifications show, blocks
  // are the message. Plain text has no mentions, links or marks, and is at most 3,000 characters long.
  slack: (telling, _channel, secret) => ({
    url: secret,
    headers: {},
    body: {
      text: slackText(headline(telling)),
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: headline(telling), emoji: false } },
        { type: 'section', text: { type: 'plain_text', text: lines(telling).join('\n'), emoji: false } },
        { type: 'context', elements: [{ type: 'plain_text', text: footer(telling), emoji: false }] },
      ],
    },
  }),
  discord: (telling, _channel, secret) => ({
    url: secret,
    headers: {},
    body: {
      username: 'Waybill',
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: headline(telling),
          description: discordText(lines(telling).join('\n')),
          color: COLOURS[colourOf(telling)],
          timestamp: formatTimestamp(telling.now),
          footer: { text: telling.server },
        },
      ],
    },
  }),
  // Workflows take an Adaptive Card in the envelope that connectors took.
  teams: (telling, _channel, secret) => ({
    url: secret,
    headers: {},
    body: {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              {
                type: 'TextBlock',
                text: cardText(headline(telling)),
                weight: 'Bolder',
                size: 'Medium',
                wrap: true,
                color: CARD_COLOURS[colourOf(telling)],
              },
              ...lines(telling).map((text) => ({ type: 'TextBlock', text: cardText(text), wrap: true })),
              {
                type: 'TextBlock',
                text: cardText(footer(telling)),
                isSubtle: true,
                size: 'Small',
                wrap: true,
              },
            ],
          },
        },
      ],
    },
  }),
  ntfy: (telling, { url }, secret) => {
    const topic = new URL(url ?? '');
    const [name = '', ...before] = topic.pathname.split('/').filter(Boolean).reverse();
    topic.pathname = `/${before.reverse().join('/')}`;
    return {
      url: topic.href,
      headers: secret === '' ? {} : { authorization: `Bearer ${secret}` },
      body: {
        topic: name,
        title: headline(telling),
        message: [...lines(telling), footer(telling)].join('\n'),
        priority: NTFY_PRIORITIES[colourOf(telling)],
        tags: [NTFY_TAGS[colourOf(telling)]],
      },
    };
  },
  pagerduty: (telling, { url }, secret) => ({
    url: url ?? PAGERDUTY_URL,
    headers: {},
    body: {
      routing_key: secret,
      event_action: telling.kind === 'resolved' ? 'resolve' : 'trigger',
      dedup_key: telling.alert.id,
      client: 'Waybill',
      payload: {
        summary: `${telling.server}: ${telling.alert.text}`.slice(0, MAX_TEXT),
        source: telling.server,
        severity: telling.alert.severity,
        timestamp: formatTimestamp(telling.alert.since),
        component: telling.alert.subject === '' ? 'server' : telling.alert.subject,
        class: telling.alert.rule,
        custom_details: { advice: alertRule(telling.alert.rule).advice },
      },
    },
  }),
};

const CARD_COLOURS = { info: 'Accent', warning: 'Warning', critical: 'Attention', resolved: 'Good' } as const;
const NTFY_PRIORITIES = { info: 2, warning: 4, critical: 5, resolved: 3 } as const;
/** Names of emoji, which ntfy puts before the title. */
const NTFY_TAGS = {
  info: 'information_source',
  warning: 'warning',
  critical: 'rotating_light',
  resolved: 'white_check_mark',
} as const;

function colourOf({ kind, alert }: Telling): AlertSeverity | 'resolved' {
  return kind === 'resolved' ? 'resolved' : alert.severity;
}

const BEGINNINGS = { fired: 'Alert', resolved: 'Resolved', test: 'Test' } as const;

/** A line that says what this is, such as `Alert: A relay fails (mail.example.com)`. */
export function headline({ kind, alert, server }: Telling): string {
  const text = `${BEGINNINGS[kind]}: ${alertRule(alert.rule).title} (${server})`;
  return oneLine(text).slice(0, MAX_TITLE);
}

/** What is so, and what to do. */
export function lines({ kind, alert }: Telling): readonly string[] {
  const said = oneLine(alert.text).slice(0, MAX_TEXT);
  if (kind === 'resolved') return [`It is over: ${said}`];
  if (kind === 'test') return ['This is a test: alerts reach this channel. Nothing is wrong.'];
  return [said, alertRule(alert.rule).advice];
}

/** Since when, and how it is called in commands. */
export function footer({ kind, alert }: Telling): string {
  const { since, resolvedAt, severity, id } = alert;
  const time =
    kind === 'resolved' && resolvedAt !== null
      ? `from ${formatTimestamp(since)} to ${formatTimestamp(resolvedAt)}`
      : `since ${formatTimestamp(since)}`;
  return `${severity}, ${time}, ${id}`;
}

/** What webhooks are told: signed by Standard Webhooks, as those of events are. */
function webhookBody({ kind, alert, server, now }: Telling) {
  const { id, rule, subject, severity, text, since, firedAt, resolvedAt } = alert;
  return {
    type: `alert.${kind}`,
    timestamp: formatTimestamp(now),
    data: {
      id,
      server,
      rule,
      title: alertRule(rule).title,
      subject,
      severity,
      text,
      advice: alertRule(rule).advice,
      since: formatTimestamp(since),
      firedAt: firedAt === null ? null : formatTimestamp(firedAt),
      resolvedAt: resolvedAt === null ? null : formatTimestamp(resolvedAt),
    },
  };
}

/** Hostile text as one line. */
function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Of three characters Slack makes links, mentions and entities. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Without Markdown, and without mentions, links (`https://`) and emoji (`:`). */
function discordText(text: string): string {
  return text.replace(/[\\*_~|>[\]()#@<:`-]/g, '\\$&');
}

/** A text block reads Markdown links and lists. */
function cardText(text: string): string {
  return text.replace(/[\\*_[\]()`#-]/g, '\\$&');
}
