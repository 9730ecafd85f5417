/** What a DNS server of a test may do in the stead of answering. */
import { cutOff, type DnsContent, framed, writeResponse } from './dns-message.ts';
import type { DnsFault } from './dns-server.ts';

/** No answer. */
export const silence: DnsFault = () => {};

/** A response code without anything else: 2 is SERVFAIL, 5 REFUSED. */
export function code(value: number): DnsFault {
  return ({ query, send }) => send(writeResponse(query, { code: value, answers: [], authorities: [] }));
}

/** Nothing but the flag that says that it did not fit. */
export const truncated: DnsFault = ({ query, truth, send }) => send(writeResponse(query, cutOff(truth)));

/** A lie with another id first, then the truth. */
export const wrongId: DnsFault = ({ query, truth, send }) => {
  send(writeResponse({ ...query, id: query.id ^ 1 }, lie(truth)));
  send(writeResponse(query, truth));
};

/** A lie for another name first, then the truth. */
export const wrongQuestion: DnsFault = ({ query, truth, send }) => {
  const question = Buffer.from(query.question);
  question[1] = (question[1] ?? 0) === 0x7a ? 0x79 : 0x7a;
  send(writeResponse({ ...query, question }, lie(truth)));
  send(writeResponse(query, truth));
};

/** A lie from another port first, then the truth. */
export const wrongPort: DnsFault = async ({ query, truth, send, sendFromElsewhere }) => {
  await sendFromElsewhere(writeResponse(query, lie(truth)));
  send(writeResponse(query, truth));
};

/** The question comes back in small letters, as from a server that does not keep them, or from one who guesses. */
export const wrongCase: DnsFault = ({ query, truth, transport, send }) => {
  const question = Buffer.from(query.question.toString('latin1').toLowerCase(), 'latin1');
  send(writeResponse({ ...query, question }, transport === 'udp' ? lie(truth) : truth));
};

/** Bytes that are no message, with the right id. */
export const garbage: DnsFault = ({ query, send }) =>
  send(Buffer.concat([Buffer.of(query.id >> 8, query.id & 0xff), Buffer.from('ffffffffffffffff00', 'hex')]));

/** The truth once `when` resolves. */
export function later(when: Promise<void>): DnsFault {
  return async ({ query, truth, send }) => {
    await when;
    send(writeResponse(query, truth));
  };
}

/** The answer that the test makes of the truth. */
export function instead(change: (truth: DnsContent) => DnsContent): DnsFault {
  return ({ query, truth, send }) => send(writeResponse(query, change(truth)));
}

/** What servers from before EDNS say; without EDNS the truth. */
export const noEdns: DnsFault = ({ query, truth, send }) =>
  send(
    query.edns
      ? writeResponse({ ...query, edns: false }, { code: 1, answers: [], authorities: [] })
      : writeResponse(query, truth),
  );

/** The truth, each byte by itself (TCP). */
export const dribble: DnsFault = ({ query, truth, sendRaw }) => {
  for (const byte of framed(writeResponse(query, truth))) sendRaw(Buffer.of(byte));
};

/** Half of the truth, then the end of the connection (TCP). */
export const brokenOff: DnsFault = ({ query, truth, sendRaw, close }) => {
  const whole = framed(writeResponse(query, truth));
  sendRaw(whole.subarray(0, whole.length / 2));
  close();
};

/** The same with another address in it. */
function lie(truth: DnsContent): DnsContent {
  const answers = truth.answers.map((record) =>
    record.type === 'A' ? { ...record, data: '203.0.113.66' } : record,
  );
  return { ...truth, answers };
}
