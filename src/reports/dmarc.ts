import { isIP } from 'node:net';
import { Parser } from 'htmlparser2';
import {
  DISPOSITIONS,
  type Disposition,
  type DmarcReport,
  type DmarcRow,
  MAX_DMARC_MESSAGES,
  MAX_DMARC_ROWS,
  type PublishedPolicy,
} from '../domain/dmarc-report.ts';
import { parseDomain } from '../domain/domain-name.ts';
import type { Sliced } from '../lib/clock.ts';

/** Reads the XML of a DMARC aggregate report (RFC 7489, appendix C). */

/** A report, or why there is none. The reason is fit for a reply to the sender. */
export type DmarcReading =
  | { readonly ok: true; readonly report: DmarcReport }
  | { readonly ok: false; readonly reason: string };

/** Faults are looked at after so many characters: the parser itself has no limits. */
const PIECE = 4096;
/** Pieces to read before other work may run: a few milliseconds. */
const PIECES_OF_A_SLICE = 32;
/** Characters to keep of one value. */
const MAX_VALUE = 255;
/** Characters of an element's name, which is looked at with each element inside. */
const MAX_NAME = 64;
/** Elements inside one another; the format has five. */
const MAX_DEPTH = 16;
/** Records of one report to read. */
const MAX_RECORDS = 100_000;
/** Signatures of one record to look at. */
const MAX_SIGNATURES = 20;
/** Messages of one record: more is nobody's honest count. */
const MAX_COUNT = 1_000_000_000;
/** Longest time that one report may be about, in seconds. Daily is usual. */
const MAX_PERIOD = 32 * 86_400;

/** Reads a report. Never throws; takes time linear in the text, in slices. */
export function* readDmarcReport(xml: string): Sliced<DmarcReading> {
  const reader = new Reader();
  const parser = new Parser(
    {
      onopentagname: (name) => reader.open(name),
      ontext: (text) => reader.text(text),
      onclosetag: (name, isImplied) => reader.close(name, isImplied),
      onprocessinginstruction: (_, text) => reader.instruct(text),
    },
    { xmlMode: true, decodeEntities: true },
  );
  for (let piece = 0; piece * PIECE < xml.length && reader.fault === null; piece++) {
    if (piece > 0 && piece % PIECES_OF_A_SLICE === 0) yield;
    parser.write(xml.slice(piece * PIECE, (piece + 1) * PIECE));
  }
  parser.end();
  return reader.done();
}

/** What is read of a signature or an SPF check. */
interface AuthResult {
  domain: string;
  selector: string;
  result: string;
}

type Fields = Map<string, string>;

class Reader {
  fault: string | null = null;
  /** The local names of the open elements. */
  readonly #path: string[] = [];
  #text = '';
  readonly #header: Fields = new Map();
  #record: Fields = new Map();
  #result: AuthResult = { domain: '', selector: '', result: '' };
  #signatures: AuthResult[] = [];
  #spf: AuthResult | null = null;
  #records = 0;
  #messages = 0;
  readonly #rows = new Map<string, DmarcRow & { count: number }>();

  open(name: string): void {
    if (this.#path.length === MAX_DEPTH) this.fault ??= 'its elements are nested too deeply';
    if (name.length > MAX_NAME) this.fault ??= 'it has an element with a long name';
    if (this.fault !== null) return;
    this.#path.push(localName(name));
    this.#text = '';
    const path = this.#where();
    if (path === 'feedback/record') {
      this.#record = new Map();
      this.#signatures = [];
      this.#spf = null;
      if (++this.#records > MAX_RECORDS) this.fault = `it has more than ${MAX_RECORDS} records`;
    }
    if (AUTH_RESULTS.has(path)) this.#result = { domain: '', selector: '', result: '' };
  }

  text(text: string): void {
    if (this.#text.length < MAX_VALUE) this.#text += text.slice(0, MAX_VALUE);
  }

  /** What is neither an element nor text: a declaration of XML, or of a type with entities of its own. */
  instruct(text: string): void {
    if (/^!doctype/i.test(text)) this.fault ??= 'it has a document type, as no report has';
  }

  /** `isImplied`: its end is not there, as in a report that was cut off, the whole of which may still come. */
  close(name: string, isImplied: boolean): void {
    if (isImplied) this.fault ??= 'it is cut off, or its elements are not closed';
    if (this.fault !== null || this.#path.at(-1) !== localName(name)) return;
    this.#take(this.#where(), cleaned(this.#text));
    this.#path.pop();
    this.#text = '';
  }

  #where(): string {
    return this.#path.join('/');
  }

  #take(path: string, value: string): void {
    if (path === 'feedback/record') {
      this.#addRow();
      return;
    }
    const inner = path.slice(path.lastIndexOf('/') + 1);
    const outer = path.slice(0, -inner.length - 1);
    if (AUTH_RESULTS.has(outer)) {
      if (inner === 'domain' || inner === 'selector' || inner === 'result') this.#result[inner] = value;
    } else if (path === 'feedback/record/auth_results/dkim') {
      if (this.#signatures.length < MAX_SIGNATURES) this.#signatures.push(this.#result);
    } else if (path === 'feedback/record/auth_results/spf') {
      this.#spf ??= this.#result;
    } else if (path.startsWith(RECORD)) {
      first(this.#record, path.slice(RECORD.length), value);
    } else if (path.startsWith('feedback/')) {
      first(this.#header, path.slice('feedback/'.length), value);
    }
  }

  #addRow(): void {
    const record = this.#record;
    const source = (record.get('row/source_ip') ?? '').toLowerCase();
    const count = wholeNumber(record.get('row/count'), MAX_COUNT);
    if (isIP(source) === 0 || count === null) {
      this.fault = 'a record of it has no source_ip or no count';
      return;
    }
    this.#messages += count;
    if (this.#messages > MAX_DMARC_MESSAGES) {
      this.fault = `it counts more than ${MAX_DMARC_MESSAGES} messages`;
      return;
    }
    const signature = this.#signatures.find(({ result }) => isPass(result)) ?? this.#signatures[0];
    const row = {
      source,
      disposition: dispositionOf(record.get('row/policy_evaluated/disposition')) ?? 'none',
      dkim: isPass(record.get('row/policy_evaluated/dkim')),
      spf: isPass(record.get('row/policy_evaluated/spf')),
      headerFrom: domainIn(record.get('identifiers/header_from')),
      spfDomain: domainIn(this.#spf?.domain),
      dkimDomain: domainIn(signature?.domain),
      selector: SELECTOR.test(signature?.selector ?? '') ? (signature?.selector ?? '') : '',
    };
    if (this.#count(row, count, this.#rows.size < MAX_DMARC_ROWS)) return;
    const { disposition, dkim, spf } = row;
    const names = { headerFrom: '', spfDomain: '', dkimDomain: '', selector: '' };
    this.#count({ source: '', disposition, dkim, spf, ...names }, count, true);
  }

  /** False if there is no such row yet and none may be added. */
  #count(row: Omit<DmarcRow, 'count'>, count: number, mayAdd: boolean): boolean {
    const key = JSON.stringify(row);
    const known = this.#rows.get(key);
    if (known !== undefined) known.count += count;
    else if (mayAdd) this.#rows.set(key, { ...row, count });
    return known !== undefined || mayAdd;
  }

  done(): DmarcReading {
    if (this.fault !== null) return { ok: false, reason: this.fault };
    const header = this.#header;
    const domain = parseDomain(header.get('policy_published/domain') ?? '');
    const reportId = header.get('report_metadata/report_id') ?? '';
    const begin = wholeNumber(header.get('report_metadata/date_range/begin'), MAX_SECONDS);
    const end = wholeNumber(header.get('report_metadata/date_range/end'), MAX_SECONDS);
    if (domain === null || reportId === '')
      return { ok: false, reason: 'it names no domain or no report_id: it is no DMARC aggregate report' };
    if (begin === null || end === null || end < begin || end - begin > MAX_PERIOD)
      return { ok: false, reason: 'its date_range is none' };
    const reporter = header.get('report_metadata/org_name') ?? '';
    const contact = header.get('report_metadata/email') ?? '';
    return {
      ok: true,
      report: {
        reporter: reporter === '' ? contact : reporter,
        contact,
        reportId,
        domain,
        beginAt: begin * 1000,
        endAt: end * 1000,
        policy: policyOf(header),
        rows: [...this.#rows.values()],
      },
    };
  }
}

const RECORD = 'feedback/record/';
const AUTH_RESULTS: ReadonlySet<string> = new Set([
  'feedback/record/auth_results/dkim',
  'feedback/record/auth_results/spf',
]);
const SELECTOR = /^[\w.-]{1,63}$/;
/** The year 9999. */
const MAX_SECONDS = 253_402_300_799;

/** Without the prefix of a namespace. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase();
}

/** Of repeated elements the first counts. */
function first(fields: Fields, name: string, value: string): void {
  if (!fields.has(name) && fields.size < 100) fields.set(name, value);
}

/** As one line without control characters. */
function cleaned(text: string): string {
  return text.replace(CONTROLS, ' ').trim().slice(0, MAX_VALUE).toWellFormed();
}

const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

function wholeNumber(text: string | undefined, most: number): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return null;
  const number = Number(text);
  return number <= most ? number : null;
}

/** What is no domain may be anything, an address of somebody too: it is not kept. */
function domainIn(text: string | undefined): string {
  return parseDomain(text ?? '') ?? '';
}

function isPass(result: string | undefined): boolean {
  return result?.toLowerCase() === 'pass';
}

function dispositionOf(text: string | undefined): Disposition | null {
  const word = text?.toLowerCase();
  return DISPOSITIONS.find((known) => known === word) ?? null;
}

function policyOf(header: Fields): PublishedPolicy {
  return {
    p: dispositionOf(header.get('policy_published/p')) ?? 'none',
    sp: dispositionOf(header.get('policy_published/sp')),
    pct: wholeNumber(header.get('policy_published/pct'), 100) ?? 100,
  };
}
