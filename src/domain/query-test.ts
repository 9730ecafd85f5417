import type { MessageStatus } from './delivery.ts';
import { holdsWords } from './mail-words.ts';
import { addressTest } from './mailbox.ts';
import type { MailQuery, PartField, QueryTerm } from './query.ts';

/** What a query is asked of: a message as far as queries know of it. */
export interface MailFacts {
  readonly id: string;
  readonly keyId: string | null;
  readonly status: MessageStatus;
  readonly test: boolean;
  /** The From mailbox, and the reverse-path. */
  readonly from: string;
  readonly reversePath: string;
  readonly subject: string;
  /** With its angle brackets. */
  readonly messageId: string;
  readonly tags: readonly string[];
  readonly box: string | null;
  /** The metadata's values. Asked for only when it matters, because they have to be taken apart. */
  readonly metadata: () => readonly string[];
  /** When it is to go out, in wall ms; null for at once. */
  readonly sendAt: number | null;
  /** Asked for only when it matters, because it costs a look. */
  readonly recipients: () => readonly RecipientFacts[];
}

/** A recipient, as far as queries know of it. */
export interface RecipientFacts {
  readonly address: string;
  readonly relay: string | null;
  readonly captured: boolean;
  /** The id that the next hop gave it, such as a queue id. */
  readonly hopId: string | null;
  /** The last reply about it, with its codes; null if there was none. Asked for only when it matters: replies are long. */
  readonly reply: () => string | null;
}

/**
 * Makes the test that says whether a message is found, but for times, which every index tells; null where all are.
 * `known`: what an index has answered already. What costs least is asked first.
 */
export function queryTest(
  query: MailQuery,
  known: (term: QueryTerm) => boolean = () => false,
): ((facts: MailFacts) => boolean) | null {
  const tests = [
    ...statusTest(query),
    ...scheduledTest(query),
    ...keyTests(query),
    ...query.terms.filter((term) => !known(term)).map(termTest),
    ...relayTests(query),
    ...capturedTest(query),
  ];
  return tests.length === 0 ? null : (facts) => tests.every((test) => test(facts));
}

type Test = (facts: MailFacts) => boolean;

function statusTest({ statuses }: MailQuery): Test[] {
  return statuses === null ? [] : [({ status }) => statuses.includes(status)];
}

function scheduledTest({ scheduled }: MailQuery): Test[] {
  if (scheduled === null) return [];
  const { after, not } = scheduled;
  return [({ status, sendAt }) => (status === 'queued' && sendAt !== null && sendAt > after) !== not];
}

function keyTests({ keys, notKeys }: MailQuery): Test[] {
  return [
    ...(keys === null ? [] : [({ keyId }: MailFacts) => keyId !== null && keys.includes(keyId)]),
    ...(notKeys.length === 0 ? [] : [({ keyId }: MailFacts) => keyId === null || !notKeys.includes(keyId)]),
  ];
}

function termTest(term: QueryTerm): Test {
  const holds = positive(term);
  return term.not ? (facts) => !holds(facts) : holds;
}

function positive(term: QueryTerm): Test {
  switch (term.kind) {
    case 'tag':
      return ({ tags }) => tags.includes(term.tag);
    case 'box':
      return ({ box }) => box === term.box;
    case 'id':
      return ({ id, messageId }) => id.startsWith(term.start) || messageId === `<${term.start}>`;
    case 'hop':
      return ({ recipients }) => recipients().some(({ hopId }) => hopId === term.id);
    case 'part': {
      const part = term.part.toLowerCase();
      return (facts) => partTexts(facts, term.field).some((text) => text.toLowerCase().includes(part));
    }
    case 'address': {
      const isIt = addressTest(term.address, term.isStart);
      if (term.field === 'to') return ({ recipients }) => recipients().some(({ address }) => isIt(address));
      return ({ from, reversePath }) => isIt(addressIn(from)) || isIt(reversePath);
    }
    case 'words': {
      const { words, field, isStart } = term;
      return (facts) => textsOf(facts, field).some((text) => holdsWords(text, words, isStart));
    }
  }
}

/** The texts that a field of words stands for. A phrase lies within one of them. */
function textsOf(facts: MailFacts, field: 'any' | 'subject' | 'from' | 'to'): readonly string[] {
  const { subject, from, reversePath, tags, messageId } = facts;
  if (field === 'subject') return [subject];
  if (field === 'from') return [from, reversePath];
  const to = facts.recipients().map(({ address }) => address);
  return field === 'to' ? to : [subject, from, reversePath, ...tags, messageId, ...to];
}

/** The texts that a field of parts stands for. */
function partTexts({ subject, metadata, recipients }: MailFacts, field: PartField): readonly string[] {
  switch (field) {
    case 'subject':
      return [subject];
    case 'metadata':
      return metadata();
    case 'reply':
      return recipients().flatMap(({ reply }) => reply() ?? []);
  }
}

function relayTests({ relays, notRelays }: MailQuery): Test[] {
  const goesBy =
    (names: readonly string[]): Test =>
    ({ recipients }) =>
      recipients().some(({ relay }) => relay !== null && names.includes(relay));
  const unwanted = goesBy(notRelays);
  return [
    ...(relays === null ? [] : [goesBy(relays)]),
    ...(notRelays.length === 0 ? [] : [(facts: MailFacts) => !unwanted(facts)]),
  ];
}

function capturedTest({ captured }: MailQuery): Test[] {
  if (captured === null) return [];
  return [({ test, recipients }) => (test || recipients().some((one) => one.captured)) === captured];
}

/** The address of a mailbox as written into a header. An address holds no angle brackets (`domain/mailbox.ts`). */
export function addressIn(mailbox: string): string {
  const open = mailbox.lastIndexOf('<');
  return open < 0 ? mailbox.trim() : mailbox.slice(open + 1, mailbox.indexOf('>', open));
}
