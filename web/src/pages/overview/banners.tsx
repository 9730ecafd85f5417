import { lazy, Suspense, useMemo, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Notice, Notices } from '../../parts/notices.tsx';
import { Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { IfMay } from '../../session.tsx';
import { whereBannerLeads } from './banner-links.ts';

type Shown = ResultOf<'overview'>['banners'][number];
type Denied = ResultOf<'denials'>[number];

const AllowDialog = lazy(() => import('./allow-dialog.tsx'));

/** Refused sources that are shown; the page of the listener has all. */
const DENIALS_SHOWN = 3;

/** What someone should know now, the worst first; and who was refused and could be allowed. */
export function Banners({ banners }: { readonly banners: readonly Shown[] }) {
  const sorted = useMemo(() => {
    const ranks = { critical: 0, warning: 1, info: 2 };
    return [...banners].sort((one, other) => ranks[one.level] - ranks[other.level]);
  }, [banners]);
  return (
    <Notices label="What you should know">
      {sorted.map(({ code, level, text }) => {
        const link = whereBannerLeads(code);
        return (
          <Notice
            key={`${code} ${text}`}
            level={level}
            {...(link && {
              actions: (
                <ButtonLink small {...link.target}>
                  {link.label}
                </ButtonLink>
              ),
            })}
          >
            {text}
          </Notice>
        );
      })}
      <Denials />
    </Notices>
  );
}

function Denials() {
  const denials = useCall('denials', {}, { topics: ['denials'] });
  const [allowing, setAllowing] = useState<Denied | null>(null);
  const allowable = (denials.data ?? []).filter(({ setting }) => setting !== null).slice(0, DENIALS_SHOWN);
  return (
    <>
      {allowable.map((denied) => (
        <Notice
          key={`${denied.sourceAddress} ${denied.reason}`}
          level="info"
          actions={
            <IfMay role="admin">
              <Button small onClick={() => setAllowing(denied)}>
                Allow…
              </Button>
            </IfMay>
          }
        >
          <strong className="font-mono text-sm font-semibold">{denied.sourceAddress}</strong> was refused{' '}
          {plural(denied.count, 'time')}, last <Time at={denied.lastAt} />: it is not in{' '}
          <code className="font-mono text-sm">{denied.setting}</code>.
        </Notice>
      ))}
      <Suspense>{allowing && <AllowDialog denied={allowing} onClose={() => setAllowing(null)} />}</Suspense>
    </>
  );
}
