import type { RequestLine } from '../../src/domain/request-line.ts';

/** A line of the log of requests, of a message that was accepted, changed as wished. */
export function requestLine(change: Partial<RequestLine> = {}): RequestLine {
  return {
    at: 1_700_000_000_000,
    keyId: 'key_shop',
    sourceAddress: '192.0.2.7',
    method: 'POST',
    path: '/api/v1/messages',
    status: 202,
    code: null,
    faults: null,
    durationMs: 3,
    requestId: 'r1',
    weight: 1,
    session: null,
    ...change,
  };
}
