/** DMARC aggregate reports as receivers write them. */

interface Record {
  readonly source: string;
  readonly count: number;
  readonly dkim?: 'pass' | 'fail';
  readonly spf?: 'pass' | 'fail';
  readonly disposition?: string;
}

interface Written {
  readonly domain?: string;
  readonly id?: string;
  readonly org?: string;
  /** Seconds since 1970. */
  readonly begin?: number;
  readonly records?: readonly Record[];
}

/** The XML of a report on a day of one domain. */
export function dmarcXml({
  domain = 'example.com',
  id = '1234',
  org = 'receiver.example',
  begin = Date.UTC(2026, 10, 20) / 1000,
  records = [{ source: '192.0.2.1', count: 3 }],
}: Written = {}): string {
  return `<?xml version="1.0" encoding="UTF-8" ?>
<feedback>
  <version>1.0</version>
  <report_metadata>
    <org_name>${org}</org_name>
    <email>noreply-dmarc@${org}</email>
    <report_id>${id}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>quarantine</p><sp>reject</sp><pct>50</pct>
  </policy_published>
${records.map((record) => recordXml(domain, record)).join('\n')}
</feedback>
`;
}

function recordXml(
  domain: string,
  { source, count, dkim = 'pass', spf = 'pass', disposition = 'none' }: Record,
): string {
  return `  <record>
    <row>
      <source_ip>${source}</source_ip>
      <count>${count}</count>
      <policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated>
    </row>
    <identifiers><header_from>${domain}</header_from></identifiers>
    <auth_results>
      <dkim><domain>other.example</domain><result>fail</result><selector>s1</selector></dkim>
      <dkim><domain>${domain}</domain><result>${dkim}</result><selector>w1</selector></dkim>
      <spf><domain>bounces.${domain}</domain><result>${spf}</result></spf>
    </auth_results>
  </record>`;
}
