/** A message with something in each field of its story, and secrets in those that nobody else is to see. */
import type { MessagePreview, MessageStory } from '../../../src/operations/search.ts';

const AT = '2026-11-22T10:00:00.000Z';

/** Stands in every field that a link must not show. */
export const HIDDEN = 'kept-within';
/** Stands in what it shows only where its maker asked for the content. */
export const SAID = 'what-it-says';

/** The story of the message of this id. */
export function storyOf(id: string): MessageStory {
  return {
    record: {
      id,
      status: 'delivered',
      outcome: 'accepted',
      providerMessageId: HIDDEN,
      timestamp: AT,
      createdAt: AT,
      updatedAt: AT,
      deliveredAt: AT,
      durationMs: 1234,
      from: 'Shop <shop@example.com>',
      to: ['ann@example.org'],
      cc: [],
      bcc: [],
      subject: SAID,
      tags: [HIDDEN],
      metadata: { order: HIDDEN },
      sizeBytes: 987,
      messageId: `<${HIDDEN}@example.com>`,
      source: 'api',
      door: 'resend',
      box: HIDDEN,
      priority: 'high',
      relay: HIDDEN,
      attempts: 1,
      lastError: { code: HIDDEN, class: 'transient', message: HIDDEN, recipient: 'ann@example.org' },
      recipients: [
        {
          address: 'ann@example.org',
          type: 'to',
          status: 'delivered',
          outcome: 'accepted',
          relay: HIDDEN,
          attempts: 1,
          providerMessageId: HIDDEN,
          lastCode: 250,
          lastEnhancedCode: '2.0.0',
          lastReply: 'queued as 4F7C12',
          nextAttemptAt: null,
          waitingFor: null,
          confirmedAt: AT,
          bounce: {
            type: 'hard',
            source: `webhook:${HIDDEN}`,
            code: 550,
            enhancedCode: '5.1.1',
            text: 'No such user',
            at: AT,
          },
          complainedAt: null,
          unsubscribedAt: null,
          suppression: HIDDEN,
        },
      ],
    },
    attempts: [
      {
        number: 1,
        startedAt: AT,
        relay: HIDDEN,
        host: 'mx.example.org',
        address: HIDDEN,
        localAddress: HIDDEN,
        tls: HIDDEN,
        security: { verdict: 'verified', mtaSts: HIDDEN, dane: HIDDEN },
        dns: [{ name: HIDDEN, type: 'MX', result: 'found', answers: [HIDDEN], authenticated: true }],
        reused: true,
        timings: {
          queueMs: 1,
          dnsMs: 2,
          connectMs: 3,
          tlsMs: 4,
          mailMs: 5,
          transferMs: 6,
          replyMs: 7,
          totalMs: 28,
        },
        steps: [{ verb: HIDDEN, reply: HIDDEN, atMs: 1 }],
        results: [
          {
            recipient: 'ann@example.org',
            outcome: 'delivered',
            class: 'success',
            code: 250,
            enhancedCode: '2.0.0',
            reply: 'queued as 4F7C12',
            providerMessageId: HIDDEN,
          },
        ],
      },
    ],
    moreAttempts: false,
    ways: [{ recipient: 'ann@example.org', rule: HIDDEN, group: [HIDDEN], waits: [] }],
    key: { id: HIDDEN, name: HIDDEN, test: false },
    sourceAddress: HIDDEN,
    routeTable: 7,
    content: { kept: true, until: AT },
    captured: false,
    may: { retry: true, cancel: true, resend: true },
  };
}

/** What it says. */
export const PREVIEW: MessagePreview = {
  subject: SAID,
  from: HIDDEN,
  headers: [{ name: 'X-Header', value: HIDDEN }],
  hasHtml: true,
  text: SAID,
  attachments: [
    {
      number: 0,
      filename: 'bill.pdf',
      contentType: 'application/pdf',
      sizeBytes: 3,
      inline: false,
      contentId: HIDDEN,
    },
  ],
  remotePictures: 2,
  links: [{ url: `https://${HIDDEN}.example`, text: HIDDEN }],
  codes: [HIDDEN],
  notes: [],
};
