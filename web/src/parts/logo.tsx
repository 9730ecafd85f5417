/** The mark: a letter's way from hand to hand, in the shape of a W. */
function Logo() {
  return (
    <svg aria-hidden="true" width={24} height={24} viewBox="0 0 32 32">
      <rect width="32" height="32" rx="7" fill="#2742c9" />
      <path
        d="M6.5 10.5 11 22l5-10 5 10 4.5-11.5"
        fill="none"
        stroke="#fff"
        strokeWidth="2.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <circle cx="25.5" cy="10.5" r="3" fill="#ffd166" />
    </svg>
  );
}

/** The mark and the name. */
export function Wordmark() {
  return (
    <span className="inline-flex items-center gap-2 text-lg font-semibold tracking-tight">
      <Logo /> Waybill
    </span>
  );
}
