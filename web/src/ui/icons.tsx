/** Line icons on a 16-unit grid; decoration only, every control carries its own words. */
const PATHS = {
  book: 'M8 4v9M8 4C6.500 2.800 4.500 2.500 2 2.700v9c2.500-.2 4.500.1 6 1.300 1.500-1.200 3.500-1.500 6-1.300v-9C11.500 2.500 9.500 2.800 8 4z',
  spark: 'M8 2l1.500 4.500L14 8l-4.500 1.500L8 14l-1.500-4.500L2 8l4.500-1.500z',
  check: 'M3.500 8.500l3 3 6-7',
  cross: 'M4 4l8 8M12 4l-8 8',
  pencil: 'M3.500 12.500l.6-2.600 6.600-6.600 2 2-6.600 6.600z',
  speech: 'M3 3.500h10v7H7.500L5 12.800V10.500H3z',
  up: 'M3.500 10L8 5.500l4.500 4.500',
  down: 'M3.500 6L8 10.500 12.500 6',
  send: 'M8 13V3.500M3.800 7.500L8 3.300l4.200 4.200',
  stop: 'M5 5h6v6H5z',
  moon: 'M12.800 9.800A5.500 5.500 0 0 1 6.200 3.200a5.500 5.500 0 1 0 6.600 6.600z',
  sun: 'M8 5.300a2.700 2.700 0 1 0 0 5.400 2.700 2.700 0 0 0 0-5.400zM8 1.500v1.300M8 13.200v1.300M1.500 8h1.300M13.200 8h1.300M3.400 3.400l.9.900M11.700 11.700l.9.900M12.600 3.400l-.9.900M4.300 11.700l-.9.900',
  keys: 'M1.800 4.500h12.400v7H1.800zM4.200 6.800h.1M6.700 6.800h.1M9.200 6.800h.1M11.700 6.800h.1M5.500 9.300h5',
  focus: 'M2.500 5.500v-3h3M10.500 2.500h3v3M13.500 10.500v3h-3M5.500 13.500h-3v-3',
  trash: 'M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500l.5 8.500h6l.5-8.500',
  plus: 'M8 3v10M3 8h10',
  download: 'M8 2.500v7.500M4.800 7L8 10.200 11.200 7M3 13h10',
  person: 'M8 8a2.600 2.600 0 1 0 0-5.200A2.600 2.600 0 0 0 8 8zM3 13.200c.5-2.400 2.400-3.700 5-3.700s4.500 1.300 5 3.700',
  people: 'M6.300 7.500a2.300 2.300 0 1 0 0-4.600 2.300 2.300 0 0 0 0 4.600zM2 12.700c.4-2.100 2.100-3.300 4.300-3.300 1.100 0 2.100.3 2.800.8M12 8.200v5M9.500 10.700h5',
  tray: 'M2.500 9.500l2-6h7l2 6v3h-11zM2.500 9.500h3.200l.8 1.500h3l.8-1.500h3.200',
  clock: 'M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 5v3.200l2 1.300',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg viewBox="0 0 16 16" width={size} height={size} fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
