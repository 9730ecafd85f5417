import type { DnsAnswer, RecordData, RecordType, Resolver } from '../../dns/resolver.ts';
import type { Trace } from '../smtp/trace.ts';

/** Records of one answer that are kept, and characters of each. */
const MAX_ANSWERS = 8;
const MAX_ANSWER_TEXT = 200;

/** Asks `resolver`, and has `trace` take note of questions and answers. */
export function recording(resolver: Resolver, trace: Trace): Resolver {
  return {
    async resolve(name, type, signal) {
      const answer = await resolver.resolve(name, type, signal);
      const authenticated = answer.kind !== 'failed' && answer.authenticated;
      trace.asked({ name, type, result: resultOf(answer), answers: answersOf(answer), authenticated });
      return answer;
    },
  };
}

/** One line on an answer, for people. */
export function describeAnswer(answer: DnsAnswer<RecordType>): string {
  return answer.kind === 'found' ? answersOf(answer).join(', ') : resultOf(answer);
}

function resultOf(answer: DnsAnswer<RecordType>): string {
  return answer.kind === 'failed' ? answer.cause : answer.kind;
}

function answersOf(answer: DnsAnswer<RecordType>): string[] {
  if (answer.kind !== 'found') return [];
  const shown = answer.records
    .slice(0, MAX_ANSWERS)
    .map((record) => textOf(record).slice(0, MAX_ANSWER_TEXT));
  const left = answer.records.length - shown.length;
  return left > 0 ? [...shown, `and ${left} more`] : shown;
}

function textOf(record: RecordData[RecordType]): string {
  if (typeof record === 'string') return record;
  if ('exchange' in record) return `${record.preference} ${record.exchange === '' ? '.' : record.exchange}`;
  return `${record.usage} ${record.selector} ${record.matchingType} ${record.data}`;
}
