/**
 * What each provider of a channel wants to be posted, as its documentation has it. Texts of alerts are of our making, but
 * may quote a next hop: nothing in them may become a mention, a link or a command.
 */
import type { Alert } from '../domain/alert.ts';
import type { AlertChannel } from '../domain/alert-channel.ts';
import { type AlertSeverity, adviceOn, alertRule } from '../domain/alert-rules.ts';
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

/** What makes a request; `secret` is opened, and empty where the channel has none. */
type Shape = (telling: Telling, channel: AlertChannel, secret: string) => Post;

const COLOURS: Readonly<Record<AlertSeverity | 'resolved', number>> = {
  info: 0x2563eb,
  warning: 0xd97706,
  critical: 0xdc2626,
  resolved: 0x16a34a,
};
/** Bytes of a text, in UTF-8, that every provider takes: ntfy, which takes fewest, has 4,096 for the whole message. */
const MAX_TEXT = 1_000;
const MAX_TITLE = 150;
const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

/** By kind; mail is no post. */
export const SHAPES: Readonly<Record<Exclude<AlertChannel['kind'], 'mail'>, Shape>> = {
  webhook: (telling, { url }) => ({ url: url ?? '', headers: {}, body: webhookBody(telling) }),
  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/: blocks are the message, in plain text, which
  // has neither mentions nor Markdown. `text` is what notifications show. Mattermost knows no blocks and shows `text` alone,
  // so all is in it, and finds mentions and Markdown there
  // (https://docs.mattermost.com/developers/integrate/slash-commands/slack). A header has at most 150 characters
  // (https://docs.slack.dev/reference/block-kit/blocks/header-block), a section 3,000
  // (https://docs.slack.dev/reference/block-kit/blocks/section-block).
  slack: (telling, _channel, secret) => ({
    url: secret,
    headers: {},
    body: {
      text: slackText([headline(telling), ...lines(telling), footer(telling)].join('\n')),
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: headline(telling), emoji: false } },
        { type: 'section', text: { type: 'plain_text', text: lines(telling).join('\n'), emoji: false } },
        { type: 'context', elements: [{ type: 'plain_text', text: footer(telling), emoji: false }] },
      ],
    },
  }),
  // https://docs.discord.com/developers/resources/webhook#execute-webhook, and of lengths
  // https://docs.discord.com/developers/resources/message#embed-object-embed-limits: a title 256 characters, a description
  // 4,096, a footer 2,048, all together 6,000.
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
  // Workflows (“When a Teams webhook request is received”) take an Adaptive Card in the envelope that the connectors, which
  // are retired, took: https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using.
  // At most 28 KB. A text run has no Markdown: https://learn.microsoft.com/adaptive-cards/schema-explorer/text-run.
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
            fallbackText: headline(telling),
            body: [
              cardLine(headline(telling), {
                weight: 'Bolder',
                size: 'Medium',
                color: CARD_COLOURS[colourOf(telling)],
              }),
              ...lines(telling).map((text) => cardLine(text, {})),
              cardLine(footer(telling), { isSubtle: true, size: 'Small' }),
            ],
          },
        },
      ],
    },
  }),
  // https://docs.ntfy.sh/publish/#publish-as-json: posted to the root of the server. Priorities are 1 to 5, and tags that
  // name an emoji are shown as it.
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
  // https://developer.pagerduty.com/docs/events-api-v2/trigger-events/: the summary has at most 1,024 characters, the
  // dedup_key 255; severities are critical, error, warning and info. What has the dedup_key of a trigger resolves it.
  pagerduty: (telling, { url }, secret) => ({
    url: url ?? PAGERDUTY_URL,
    headers: {},
    body: {
      routing_key: secret,
      event_action: telling.kind === 'resolved' ? 'resolve' : 'trigger',
      dedup_key: telling.alert.id,
      client: 'Waybill',
      payload: {
        summary: clipped(oneLine(`${telling.server}: ${telling.alert.text}`), MAX_TEXT),
        source: telling.server,
        severity: telling.alert.severity,
        timestamp: formatTimestamp(telling.alert.since),
        component: telling.alert.subject === '' ? 'server' : telling.alert.subject,
        class: telling.alert.rule,
        custom_details: { advice: adviceOn(telling.alert.rule, telling.alert.subject) },
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

const BEGINNINGS = { fired: 'Alert', resolved: 'Resolved' } as const;

/** A line that says what this is, such as `Alert: A relay fails (mail.example.com)`. */
export function headline({ kind, alert, server }: Telling): string {
  if (kind === 'test') return clipped(oneLine(`Test of alerts (${server})`), MAX_TITLE);
  const text = `${BEGINNINGS[kind]}: ${alertRule(alert.rule).title} (${server})`;
  return clipped(oneLine(text), MAX_TITLE);
}

/** What is so, and what to do. */
export function lines({ kind, alert }: Telling): readonly string[] {
  const said = clipped(oneLine(alert.text), MAX_TEXT);
  if (kind === 'resolved') return [`It is over: ${said}`];
  if (kind === 'test') return ['This is a test: alerts reach this channel. Nothing is wrong.'];
  return [said, adviceOn(alert.rule, alert.subject)];
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
      advice: adviceOn(rule, subject),
      since: formatTimestamp(since),
      firedAt: firedAt === null ? null : formatTimestamp(firedAt),
      resolvedAt: resolvedAt === null ? null : formatTimestamp(resolvedAt),
    },
  };
}

/** Hostile text as one line. */
export function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** The beginning of a text, in so many bytes of UTF-8; no character is cut. */
function clipped(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const cut = Buffer.from(text)
    .subarray(0, bytes - 3)
    .toString();
  return `${cut.replace(/\ufffd+$/, '')}…`;
}

/**
 * Of three characters Slack makes links, mentions and entities
 * (https://docs.slack.dev/messaging/formatting-message-text#escaping). Where others read it, an `@` with a character of no
 * width behind it mentions nobody, and Markdown makes no links.
 */
function slackText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[@\]]/g, '$&\u200b');
}

/** Without Markdown, and without mentions, links (`https://`) and emoji (`:`). */
function discordText(text: string): string {
  return text.replace(/[\\*_~|>[\]()#@<:`-]/g, '\\$&');
}

/** A paragraph of a card, of one run. */
function cardLine(text: string, style: object) {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...style }] };
}
