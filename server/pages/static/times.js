// Moments in the reader's language and time zone; a day without a time is the same everywhere.

function format(options) {
  return new Intl.DateTimeFormat(document.documentElement.dataset.language || undefined, options);
}

/** Put the times below an element into the reader's words; one with `data-clock` stands below its day. */
export function localTimes(root) {
  const moment = format({ dateStyle: "medium", timeStyle: "short" });
  const clock = format({ timeStyle: "short" });
  const day = format({ dateStyle: "long", timeZone: "UTC" });
  for (const time of root.querySelectorAll("time[datetime]")) {
    const words = time.dateTime.includes("T") ? ("clock" in time.dataset ? clock : moment) : day;
    time.textContent = words.format(new Date(time.dateTime));
  }
}

/** The reader's day of a moment, in words. */
export function localDay(moment) {
  return format({ dateStyle: "long" }).format(new Date(moment));
}
