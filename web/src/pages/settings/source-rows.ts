/** A row of `listener.sources` as the configuration has it. */
export interface SourceRow {
  readonly name: string;
  readonly cidr: string;
  readonly sender_domains: readonly string[];
  readonly rate_per_minute: number;
  readonly tags: readonly string[];
}

/** Rows from their JSON; what is not there is as by default. Empty for what is no list. */
export function readSources(json: string): readonly SourceRow[] {
  const list = parsed(json);
  return Array.isArray(list) ? list.map(readRow) : [];
}

/** Their JSON. */
export function writeSources(rows: readonly SourceRow[]): string {
  return JSON.stringify(rows);
}

function readRow(raw: unknown): SourceRow {
  const row = (typeof raw === 'object' && raw !== null ? raw : {}) as Readonly<Record<string, unknown>>;
  return {
    name: asText(row['name']),
    cidr: asText(row['cidr']),
    // The server tells of rows as they were read, or as they were written.
    sender_domains: asTexts(row['sender_domains'] ?? row['senderDomains']),
    rate_per_minute: asNumber(row['rate_per_minute'] ?? row['ratePerMinute']),
    tags: asTexts(row['tags']),
  };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
