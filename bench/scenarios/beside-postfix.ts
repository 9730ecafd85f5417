import { smtpSourceMissing } from '../load/smtp-source.ts';
import { postfixMissing, startPostfix } from '../systems/postfix.ts';
import type { StartRelay } from '../systems/system.ts';
import { startWaybill } from '../systems/waybill.ts';
import type { RunOptions, Sample, Scenario } from './scenario.ts';

/** A scenario that takes its mail over SMTP, as Waybill and Postfix run it. */
export function besidePostfix(
  { name, shows, targets }: Pick<Scenario, 'name' | 'shows' | 'targets'>,
  run: (start: StartRelay, options: RunOptions) => Promise<Sample>,
): Scenario {
  return {
    ...{ name, shows, targets },
    sides: [
      { name: 'Waybill', missing: smtpSourceMissing, run: (options) => run(startWaybill, options) },
      { name: 'Postfix', missing: postfixMissing, run: (options) => run(startPostfix, options) },
    ],
  };
}
