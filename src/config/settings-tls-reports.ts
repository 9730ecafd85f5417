// A file of its own, as those of each subject are: `settings.ts` has no room for them.

import { mailAddress, orNull, text } from './kinds.ts';
import { live } from './setting.ts';

/** What a header field can have as it is. */
const PRINTABLE_ASCII = /^[ -~]{1,100}$/;
const reportingName = text('a name in ASCII', (raw) => PRINTABLE_ASCII.test(raw));
const reportingAddress = text(
  'a mail address in ASCII',
  (raw) => PRINTABLE_ASCII.test(raw) && mailAddress.read(raw) !== undefined,
);

/** The settings of TLS reports. */
export const TLS_REPORT_SETTINGS = {
  'tls_reports.from': live(
    orNull(reportingAddress, 'none are sent'),
    null,
    'Address that TLS reports (RFC 8460) on mail delivered directly come from. Its domain must be registered, so that they are signed. null means that none are sent; see docs/tls-reports.md.',
  ),
  'tls_reports.organization': live(
    orNull(reportingName, 'the name of this server'),
    null,
    'Name of whoever sends TLS reports, as receivers are shown it.',
  ),
};
