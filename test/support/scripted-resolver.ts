import type { DnsAnswer, DnsFailure, RecordData, RecordType, Resolver } from '../../src/dns/resolver.ts';

/** Answers by `TYPE name`; what is not there does not exist. */
export type DnsScript = Readonly<Record<string, DnsAnswer<RecordType>>>;

/** A resolver that answers by a script, and notes what it was asked. */
export class ScriptedResolver implements Resolver {
  /** Every question, as `TYPE name`, in order. */
  readonly asked: string[] = [];
  /** What it answers from now on. */
  script: DnsScript;

  constructor(script: DnsScript = {}) {
    this.script = script;
  }

  resolve<T extends RecordType>(name: string, type: T): Promise<DnsAnswer<T>> {
    const question = `${type} ${name}`;
    this.asked.push(question);
    const answer = this.script[question] ?? { kind: 'nxdomain', authenticated: false, ttlSeconds: 60 };
    // The script's author wrote the type beside the data.
    return Promise.resolve(answer as DnsAnswer<T>);
  }
}

/** An answer with records. */
export function found<T extends RecordType>(
  records: readonly RecordData[T][],
  more: { readonly authenticated?: boolean; readonly canonicalName?: string } = {},
): DnsAnswer<T> {
  return { kind: 'found', records, canonicalName: 'a.test', authenticated: false, ttlSeconds: 60, ...more };
}

/** An answer without records. */
export function nothing(
  kind: 'nxdomain' | 'nodata',
  authenticated = false,
): Extract<DnsAnswer<RecordType>, { kind: 'nxdomain' | 'nodata' }> {
  return { kind, authenticated, ttlSeconds: 60 };
}

/** No answer. */
export function unknown(
  cause: DnsFailure = 'dns_servfail',
): Extract<DnsAnswer<RecordType>, { kind: 'failed' }> {
  return { kind: 'failed', cause, text: '127.0.0.1 could not find out (SERVFAIL)' };
}
