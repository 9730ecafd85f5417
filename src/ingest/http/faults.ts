import { type FieldFault, Problem } from '../../http/problem.ts';
import type { AttachmentField, FieldName, PointTo, ReadFields } from './fields.ts';

/** More than this are neither told nor looked for: the answer to a hostile request must not outgrow the request. */
const MAX_TOLD = 1000;

/** The faults that are told, and one more where there are others; no further ones are made. */
export function firstFaults(faults: Iterable<FieldFault>): FieldFault[] {
  const first: FieldFault[] = [];
  for (const fault of faults) if (first.push(fault) > MAX_TOLD) break;
  return first;
}

/** What is wrong with a submission, gathered field by field and told all at once (contract §5). */
export class Faults {
  readonly #found: FieldFault[];
  readonly #pointTo: PointTo;
  readonly #faulty: Set<FieldName>;
  readonly #whole: string | undefined;

  constructor(read: ReadFields) {
    this.#found = [...read.faults];
    this.#pointTo = read.pointTo;
    this.#faulty = new Set(read.faulty);
    this.#whole = read.whole;
  }

  /** Reports a fault of a field, or of a place in it. */
  add(
    fault: { readonly code: string; readonly detail: string },
    field: FieldName,
    place?: number | string,
    property?: keyof AttachmentField,
  ): void {
    const { code, detail } = fault;
    this.#faulty.add(field);
    if (this.#found.length > MAX_TOLD) return;
    this.#found.push({ pointer: this.#pointTo(field, place, property), code, detail });
  }

  /** Whether something was found in one of these fields: what depends on them cannot be judged. */
  has(...fields: readonly FieldName[]): boolean {
    return fields.some((field) => this.#faulty.has(field));
  }

  /** What was found so far. */
  get found(): readonly FieldFault[] {
    return this.#found;
  }

  /** Throws the problem 400 if anything was found. */
  refuse(): void {
    refuseFaults(this.#found, this.#whole);
  }
}

/** Throws the problem 400 if there are any faults. */
export function refuseFaults(faults: readonly FieldFault[], whole = 'The body'): void {
  if (faults.length > 0) throw faultyFields('invalid_submission', faults, whole);
}

/** The problem 400 for these faults, of which its detail tells the first; `whole` is what an empty pointer is called. */
export function faultyFields(
  code: 'invalid_submission' | 'invalid_request',
  faults: readonly FieldFault[],
  whole = 'The body',
): Problem {
  const [first, ...others] = faults;
  const count = others.length < MAX_TOLD ? `${others.length}` : `at least ${MAX_TOLD}`;
  const more = others.length === 0 ? '' : ` (and ${count} more; see errors)`;
  const detail = `${first?.pointer.slice(1) || whole}: ${first?.detail}${more}`;
  return new Problem(400, code, detail, { errors: faults.slice(0, MAX_TOLD) });
}

/** What decides the limit that a fault of a header's totals is about. */
const HEADER_SETTINGS: Readonly<Record<string, string>> = {
  header_count: ' The limit is api.max_headers.',
  header_size: ' The limit is api.max_header_bytes.',
};

/** A fault of a header, with the setting where it is about one. */
export function withSetting<Fault extends { readonly code: string; readonly detail: string }>(fault: Fault) {
  return { ...fault, detail: `${fault.detail}${HEADER_SETTINGS[fault.code] ?? ''}` };
}
