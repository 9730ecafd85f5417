import { isUtf8 } from 'node:buffer';
import type { Exchange } from '../../http/exchange.ts';
import { type FieldFault, Problem } from '../../http/problem.ts';
import { type Fields, NO_ADDRESSES, type PointTo, type ReadFields } from './fields.ts';
import { type ParameterValues, readParameters } from './query.ts';
import { RAW_PARAMETERS } from './raw-parameters.ts';

const NO_FIELDS: Fields = {
  from: null,
  to: NO_ADDRESSES,
  cc: NO_ADDRESSES,
  bcc: NO_ADDRESSES,
  subject: '',
  text: null,
  html: null,
  headers: [],
  attachments: [],
  tags: [],
  sendAt: null,
  metadata: [],
  priority: null,
  dryRun: false,
  capture: false,
  dkim: null,
};

/** The envelope and options of a finished message, as the fields of a submission. */
export interface RawEnvelope extends ReadFields {
  /** The refusal of the query; its faults are among the others, and what it holds is taken as absent. */
  readonly queryProblem: Problem | null;
  /** An address in the query has a blank where a plus was meant. */
  readonly lacksPlus: boolean;
}

/** A bare + in a query is a blank: the usual mistake with plus addresses. */
const BLANK_FOR_PLUS = /(?:^|[,<]) *[^\s"<>,@]+ [^\s"<>,@]*@/;
const EMPTY_PATH = /^\s*<\s*>\s*$/;

const NO_EMPTY_PATH =
  'An empty sender is only for failure reports, which the servers on the way write; give the address that they go to.';

/** What cannot be judged when the query cannot be read. */
const IN_QUERY = ['from', 'to', 'tags', 'sendAt', 'priority', 'dryRun'] as const;

/**
 * Reads the query and the request's own From and To. What is wrong is told with the faults of the rest of the
 * request, `others` first.
 */
export function readRawEnvelope(exchange: Exchange, others: readonly FieldFault[]): RawEnvelope {
  const query = readQuery(exchange);
  const queryProblem = query instanceof Problem ? query : null;
  const values = query instanceof Problem ? NO_VALUES : query;
  const faulty = new Set<'from' | 'to'>();
  const header = (name: 'from' | 'to') => requestHeader(exchange, name, faulty);
  const from = [...(values.from === undefined ? [] : [values.from]), ...header('from')];
  const to = [...values.to, ...header('to')].filter((text) => text !== '');
  const faults = [...faulty].map((name) =>
    fault(name, 'header_encoding', 'The header field must be ASCII or UTF-8.'),
  );
  if (from.length > 1)
    faults.push(fault('from', 'repeated', 'May be given only once, as a parameter or as the header From.'));
  if (EMPTY_PATH.test(from[0] ?? '')) {
    faulty.add('from');
    faults.push(fault('from', 'address_missing', NO_EMPTY_PATH));
  }
  const sender = faulty.has('from') ? null : from[0] || null;
  const fields = { ...NO_FIELDS, ...optionsOf(values), from: sender };
  return {
    fields: { ...fields, to: { texts: to, lists: true } },
    faulty: new Set(queryProblem === null ? faulty : IN_QUERY),
    faults: [...others, ...(queryProblem?.errors ?? []), ...faults],
    pointTo,
    queryProblem,
    lacksPlus: [values.from ?? '', ...values.to].some((text) => BLANK_FOR_PLUS.test(text)),
  };
}

const NO_VALUES: ParameterValues<typeof RAW_PARAMETERS> = {
  from: undefined,
  to: [],
  tag: [],
  sendAt: undefined,
  priority: undefined,
  dryRun: false,
};

function readQuery(exchange: Exchange): ParameterValues<typeof RAW_PARAMETERS> | Problem {
  try {
    return readParameters(exchange.query, RAW_PARAMETERS);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_query') return error;
    throw error;
  }
}

function optionsOf({ tag, sendAt, priority, dryRun }: ParameterValues<typeof RAW_PARAMETERS>) {
  return {
    tags: tag.filter((text) => text !== ''),
    sendAt: sendAt || null,
    priority: priority ?? null,
    dryRun,
  };
}

/** Values of a header field of the request, in which Node reads each byte as a character. */
function requestHeader({ request }: Exchange, name: 'from' | 'to', faulty: Set<'from' | 'to'>): string[] {
  const values = (request.headersDistinct[name] ?? []).map((value) => Buffer.from(value, 'latin1'));
  if (!values.every((value) => isUtf8(value))) faulty.add(name);
  return faulty.has(name) ? [] : values.map((value) => value.toString('utf8'));
}

function fault(name: string, code: string, detail: string): FieldFault {
  return { pointer: `/${name}`, code, detail };
}

const pointTo: PointTo = (field, place) => {
  const name = field === 'tags' ? 'tag' : field;
  return place === undefined ? `/${name}` : `/${name}/${place}`;
};
