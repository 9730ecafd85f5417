/** What test suites that speak Mailpit's language ask for. */
import { expect, test } from 'vitest';
import { readMoment } from '../../src/ingest/http/mailpit/moments.ts';
import {
  holdsListed,
  holdsSaid,
  isListed,
  type ListedFacts,
  MAX_CONDITIONS,
  readSearch,
  type SaidFacts,
  searchable,
} from '../../src/ingest/http/mailpit/search.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const asked = {
  made: textOf(
    ...(['code', ' ', ' ', '"', '-', '!', 'to:', 'from:', 'cc:', 'bcc:', 'reply-to:'] as const),
    ...['addressed:', 'subject:', 'message-id:', 'tag:', 'is:read', 'is:unread', 'is:tagged'],
    ...['has:attachment', 'has:inline', 'larger:', 'smaller:', '1.5', 'kb', 'm', 'before:', 'after:'],
    ...['2026-11-20', '2026-02-30', 'T', '11:15', '+01:00', 'Z', 'a@x.test', '<', '>', ':', ','],
  ),
  corpus: corpus('mailpit-search', (bytes) => bytes.toString()),
};

const typed = {
  made: textOf(
    ...(['2026', '-', '11', '20', '-', '/', ' ', 'T', '11', ':', '15', ':', '30'] as const),
    ...['2026-11-20', '2026-03-29 02:30', '.', '9', 'Z', 'UTC', '+', '01:00', '0'],
  ),
  corpus: corpus('mailpit-search', (bytes) => bytes.toString()),
};

const LISTED: ListedFacts = {
  subject: 'Your code',
  messageId: 'a@x.test',
  tags: ['code'],
  read: true,
  createdAt: Date.UTC(2026, 10, 20),
  sizeBytes: 1024,
};
const SAID: SaidFacts = {
  addresses: { from: ['a@x.test'], to: ['code a@x.test'], cc: [], bcc: [], replyTo: [] },
  text: 'your code is 135790',
  attachments: 1,
  inline: 0,
};

test('whatever is asked for is read or refused, and decides on every message', () =>
  fuzz('searches of Mailpit', asked, (text) => {
    const search = readSearch(text, 'Europe/Berlin');
    if (!search.ok) {
      expect(search.detail).not.toBe('');
      return false;
    }
    expect(search.conditions.length).toBeLessThanOrEqual(MAX_CONDITIONS);
    for (const condition of search.conditions) {
      const opposite = { ...condition, not: !condition.not };
      const holds = (one: typeof condition) =>
        isListed(one) ? holdsListed(one, LISTED) : holdsSaid(one, SAID);
      expect(holds(condition)).toBe(!holds(opposite));
      if ('part' in condition && condition.kind !== 'subject')
        expect(searchable(condition.part)).toBe(condition.part);
      if ('at' in condition) expect(Number.isSafeInteger(condition.at)).toBe(true);
    }
    return search.conditions.length > 0;
  }));

test('whatever is typed as a time is one or none', () =>
  fuzz('times of Mailpit', typed, (text) => {
    const moments = [null, 'UTC', 'Pacific/Auckland'].map((zone) => readMoment(text, zone));
    expect(moments[0]).toBe(moments[1]);
    for (const at of moments) if (at !== null) expect(Number.isSafeInteger(at)).toBe(true);
    return moments[0] !== null;
  }));
