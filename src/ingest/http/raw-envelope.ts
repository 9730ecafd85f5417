import { isUtf8 } from 'node:buffer';
import type { Exchange } from '../../http/exchange.ts';
import type { FieldFault } from '../../http/problem.ts';
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
};

/**
 * The envelope and options of a finished message, from the query and from the request's own From and To, as the
 * fields of a submission. Throws a problem 400 for faulty parameters.
 */
export function readRawEnvelope(exchange: Exchange): ReadFields {
  const query = readParameters(exchange.query, RAW_PARAMETERS);
  const faulty = new Set<'from' | 'to'>();
  const header = (name: 'from' | 'to') => requestHeader(exchange, name, faulty);
  const from = [...(query.from === undefined ? [] : [query.from]), ...header('from')];
  const to = [...query.to, ...header('to')].filter((text) => text !== '');
  const faults = [...faulty].map((name) =>
    fault(name, 'header_encoding', 'The header field must be ASCII or UTF-8.'),
  );
  if (from.length > 1)
    faults.push(fault('from', 'repeated', 'May be given only once, as a parameter or as the header From.'));
  const fields = { ...NO_FIELDS, ...optionsOf(query), from: from[0] ?? null };
  return { fields: { ...fields, to: { texts: to, lists: true } }, faulty, faults, pointTo };
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
