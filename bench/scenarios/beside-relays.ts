import { smtpSourceMissing } from '../load/smtp-source.ts';
import { eximMissing, startExim } from '../systems/exim.ts';
import { harakaMissing, startHaraka } from '../systems/haraka.ts';
import { postfixMissing, startPostfix } from '../systems/postfix.ts';
import type { StartRelay, StartTaker } from '../systems/system.ts';
import { startWaybill } from '../systems/waybill.ts';
import type { RunOptions, Sample, Scenario, Side } from './scenario.ts';

/** What makes a scenario, but for its sides. */
export type Question = Pick<Scenario, 'name' | 'shows' | 'targets' | 'mostPairs'>;

/** Those that are several times slower are sent less, so that their runs take about as long. */
const HARAKA_SHARE = 1 / 4;
const EXIM_SHARE = 1 / 10;

/** A scenario that takes its mail over SMTP, as Waybill, Postfix, Haraka and Exim run it. */
export function besideRelays(
  question: Question,
  run: (start: StartTaker, options: RunOptions) => Promise<Sample>,
): Scenario {
  const side = (name: string, missing: Side['missing'], start: StartTaker, share: number) => ({
    name,
    missing: () => smtpSourceMissing() ?? missing(),
    run: (options: RunOptions) =>
      run(start, {
        ...options,
        messages: Math.ceil(options.messages * share),
        warmUp: Math.ceil(options.warmUp * share),
      }),
  });
  return {
    ...question,
    sides: [
      side('Waybill', () => null, startWaybill, 1),
      { ...side('Postfix', postfixMissing, startPostfix, 1), isCompiled: true },
      side('Haraka', harakaMissing, startHaraka, HARAKA_SHARE),
      { ...side('Exim', eximMissing, startExim, EXIM_SHARE), isCompiled: true },
    ],
  };
}

/** The same as Waybill and Postfix run it alone. */
export function besidePostfix(
  question: Question,
  run: (start: StartRelay, options: RunOptions) => Promise<Sample>,
): Scenario {
  return {
    ...question,
    sides: [
      { name: 'Waybill', missing: smtpSourceMissing, run: (options) => run(startWaybill, options) },
      {
        name: 'Postfix',
        missing: postfixMissing,
        isCompiled: true,
        run: (options) => run(startPostfix, options),
      },
    ],
  };
}
