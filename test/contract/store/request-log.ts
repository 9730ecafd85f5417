import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestLine } from '../../../src/domain/request-line.ts';
import type { RequestQuery } from '../../../src/store/request-log.ts';
import { requestLine } from '../../support/request-line.ts';
import { DAY, type OpenSubject, type Subject, T0 } from './fixtures.ts';

const ALL: RequestQuery = {
  of: null,
  refused: null,
  kind: null,
  sourceAddress: null,
  messageId: null,
  since: 0,
  until: null,
  after: null,
  limit: 100,
  looksAt: 100,
};

/** A line that is known by its request id, and was answered with this status. */
function line(requestId: string, status: number | null = 202, rest: Partial<RequestLine> = {}): RequestLine {
  return requestLine({ at: T0, requestId, status, ...rest });
}

/** What the log of requests promises. */
export function requestLogContract(open: OpenSubject): void {
  describe('request log', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const write = (...lines: RequestLine[]) => subject.requests.writeRequests(lines);
    const ids = async (query: Partial<RequestQuery> = {}) =>
      (await subject.requests.requests({ ...ALL, ...query })).lines.map(({ requestId }) => requestId);

    it('gives back what was written, newest first, across a restart', async () => {
      const refusal = line('b', 400, {
        at: T0 + 1,
        code: 'invalid_request',
        faults: '/to/0 address_invalid',
      });
      const unknown = line('c', null, { at: T0 + 2, keyId: null, durationMs: 0, weight: 1_000_000 });
      await write(line('a'), refusal, unknown);
      await write();
      subject = await subject.reopen();
      const { lines, next } = await subject.requests.requests(ALL);
      expect(lines.map(({ number: _, ...rest }) => rest)).toEqual([unknown, refusal, line('a')]);
      expect(new Set(lines.map(({ number }) => number)).size).toBe(3);
      expect(next).toBeNull();
    });

    it('finds by key, by whether it was refused, and by time', async () => {
      const later = { at: T0 + 10 };
      await write(line('a'), line('b', 422), line('c', null), line('d', 200, { keyId: 'key_b', ...later }));
      await write(line('e', 401, { keyId: null, ...later }));
      expect(await ids()).toEqual(['e', 'd', 'c', 'b', 'a']);
      expect(await ids({ of: { keyId: 'key_shop' } })).toEqual(['c', 'b', 'a']);
      expect(await ids({ of: { keyId: null } })).toEqual(['e']);
      expect(await ids({ of: { keyId: 'key_none' } })).toEqual([]);
      expect(await ids({ refused: true })).toEqual(['e', 'c', 'b']);
      expect(await ids({ of: { keyId: 'key_shop' }, refused: false })).toEqual(['a']);
      expect(await ids({ since: T0 + 10, refused: false })).toEqual(['d']);
      expect(await ids({ until: T0 + 10, of: { keyId: 'key_shop' }, refused: true })).toEqual(['c', 'b']);
    });

    it('finds sessions and requests, also of an address, and the session of a message', async () => {
      const session = {
        hello: 'printer',
        tls: 'TLSv1.3',
        offered: 2,
        accepted: 1,
        messages: ['msg_a', 'msg_b'],
        refused: 1,
        refusals: [
          {
            verb: 'RCPT',
            reply: 550,
            enhanced: '5.7.1',
            text: 'No \0.',
            code: 'relay_not_allowed',
            times: 3,
          },
        ],
        end: 'quit' as const,
      };
      const printer = { method: 'SMTP', path: '', sourceAddress: '192.168.7.20', session };
      await write(line('a'), line('b', 550, printer), line('c', 250, { ...printer, keyId: null }));
      await write(line('d', 401, { sourceAddress: '192.168.7.20' }), line('e', 202, { sourceAddress: null }));
      expect(await ids({ kind: 'smtp' })).toEqual(['c', 'b']);
      expect(await ids({ kind: 'api', refused: true })).toEqual(['d']);
      expect(await ids({ sourceAddress: '192.168.7.20' })).toEqual(['d', 'c', 'b']);
      expect(await ids({ sourceAddress: '192.168.7.20', kind: 'smtp', of: { keyId: null } })).toEqual(['c']);
      expect(await ids({ sourceAddress: '192.168.7.20', refused: true, until: T0 })).toEqual([]);
      expect(await ids({ messageId: 'msg_b', refused: true })).toEqual(['b']);
      expect(await ids({ messageId: 'msg_c' })).toEqual([]);
      const { lines } = await subject.requests.requests({ ...ALL, kind: 'smtp', limit: 1 });
      expect(lines[0]?.session).toEqual(session);
    });

    it('pages over what a filter leaves, and looks at no more than it may for a page', async () => {
      const session = {
        hello: null,
        tls: null,
        offered: 0,
        accepted: 0,
        messages: [],
        refused: 0,
        refusals: [],
      };
      const smtp = { session: { ...session, end: 'lost' as const } };
      await write(line('old', 221, { ...smtp, at: T0 - 1 }));
      await write(line('x'), line('y'), line('z'));
      await write(line('new', 221, { ...smtp, at: T0 + 1 }));
      const first = await subject.requests.requests({ ...ALL, kind: 'smtp', looksAt: 3 });
      expect(first.lines.map(({ requestId }) => requestId)).toEqual(['new']);
      expect(first.next).not.toBeNull();
      const second = await subject.requests.requests({ ...ALL, kind: 'smtp', looksAt: 3, after: first.next });
      expect(second.lines.map(({ requestId }) => requestId)).toEqual(['old']);
      expect(second.next).toBeNull();
    });

    it('pages without a gap or a repetition, over lines of the same time', async () => {
      await write(...['a', 'b', 'c', 'd', 'e'].map((id, place) => line(id, 202, { at: T0 + (place >> 1) })));
      const found: string[] = [];
      let after: RequestQuery['after'] = null;
      do {
        const page = await subject.requests.requests({ ...ALL, limit: 2, after });
        found.push(...page.lines.map(({ requestId }) => requestId));
        after = page.next;
        await write(line('new', 202, { at: T0 + DAY }));
      } while (after !== null);
      expect(found).toEqual(['e', 'd', 'c', 'b', 'a']);
    });

    it('knows which keys have lines', async () => {
      expect(await subject.requests.keysOfRequests()).toEqual([]);
      await write(line('a'), line('b'), line('c', 202, { keyId: 'key_b' }), line('d', 401, { keyId: null }));
      expect(await subject.requests.keysOfRequests()).toEqual([null, 'key_b', 'key_shop']);
    });

    it('keeps so many of a key, refused or not, and leaves those of others', async () => {
      const at = (place: number) => ({ at: T0 + place });
      await write(...['a', 'b', 'c', 'd'].map((id, place) => line(id, 202, at(place))));
      await write(
        ...['e', 'f', 'g'].map((id, place) => line(id, 400, at(place))),
        line('h', 202, { keyId: 'x' }),
      );
      expect(await subject.requests.trimRequests('key_shop', 2, 2)).toBe(2);
      expect(await ids({ refused: true })).toEqual(['g', 'f']);
      expect(await subject.requests.trimRequests('key_shop', 2, 2)).toBe(1);
      expect((await ids()).sort()).toEqual(['c', 'd', 'f', 'g', 'h']);
      expect(await subject.requests.trimRequests(null, 0, 9)).toBe(0);
    });

    it('forgets what is old, a bounded number at once', async () => {
      await write(...[3, 0, 2, 1].map((day) => line(`day ${day}`, 202, { at: T0 + day * DAY })));
      expect(await subject.requests.forgetRequests(T0, 9, 9)).toBe(0);
      expect(await subject.requests.forgetRequests(T0 + 2 * DAY, 9, 1)).toBe(1);
      expect(await ids()).toEqual(['day 3', 'day 2', 'day 1']);
      expect(await subject.requests.forgetRequests(T0 + 9 * DAY, 9, 9)).toBe(3);
      expect(await ids()).toEqual([]);
    });

    it('holds so many lines in all: the oldest make room', async () => {
      await write(...['a', 'b', 'c', 'd', 'e'].map((id) => line(id)));
      expect(await subject.requests.forgetRequests(T0, 5, 9)).toBe(0);
      expect(await subject.requests.forgetRequests(T0, 2, 1)).toBe(1);
      expect(await subject.requests.forgetRequests(T0, 2, 9)).toBe(2);
      expect(await ids()).toEqual(['e', 'd']);
    });

    it('takes text that a database may not hold', async () => {
      await write(line('nul\0 and half \ud800'));
      expect(await ids()).toHaveLength(1);
    });
  });
}
