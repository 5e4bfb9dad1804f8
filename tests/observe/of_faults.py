"""Which alert tells an operator of each fault of tests/faults/catalogue.py, or why none has to."""

ALERTS_OF: dict[str, tuple[str, ...]] = {
    "F04": ("BulksmsTargetDown", "BulksmsNoMetrics"),
    "F14": ("BulksmsSendsHeld", "BulksmsJobsSetAside"),
    "F15": ("BulksmsServerUnreachable",),
    "F16": ("BulksmsServerUnreachable",),
    "F19": ("BulksmsServerUnreachable",),
    "F20": ("BulksmsServerUnreachable",),
    "F25": ("BulksmsNoMetrics", "BulksmsAcceptErrors"),
    "F26": ("BulksmsNoMetrics", "BulksmsAcceptErrors"),
    "F28": ("BulksmsAcceptErrors", "BulksmsServerUnreachable"),
    "F29": ("BulksmsAcceptSlow",),
    "F30": ("BulksmsNoMetrics", "BulksmsServerUnreachable"),
    "F31": ("BulksmsAcceptSlow",),
    "F33": ("BulksmsDiskFull", "BulksmsAcceptErrors"),
    "F35": ("BulksmsDiskFull",),
    "F36": ("BulksmsNoMetrics", "BulksmsAcceptErrors"),
    "F37": ("BulksmsGuardHeld",),
    "F39": ("BulksmsCarrierDown",),
    "F40": ("BulksmsCarrierDown",),
    "F41": ("BulksmsCarrierDown",),
    "F43": ("BulksmsDoubtsGrowing", "BulksmsDoubtsOld"),
    "F45": ("BulksmsCarrierThrottling",),
    "F46": ("BulksmsCarrierThrottling",),
    "F47": ("BulksmsAuthenticationLate", "BulksmsQueueOld"),
    "F52": ("BulksmsCarrierDown", "BulksmsDoubtsGrowing"),
    "F56": ("BulksmsReceiptsMissing",),
    "F57": ("BulksmsReceiptsUnmatched",),
    "F60": ("BulksmsCarrierFailing",),
    "F61": ("BulksmsWebhooksFailing",),
    "F62": ("BulksmsClockOff",),
    "F63": ("BulksmsServerUnreachable", "BulksmsNoWorkers"),
    "F64": ("BulksmsTargetDown", "BulksmsNoWorkers"),
    "F67": ("BulksmsNoMetrics", "BulksmsServerUnreachable"),
    "S01": ("BulksmsTargetDown", "BulksmsNoWorkers"),
    "S02": ("BulksmsTargetDown", "BulksmsNoMetrics"),
}
"""The alerts that fire if the fault lasts. A process that is killed once and starts again is no news."""

OTHERS_GO_ON = "another process goes on, the supervisor starts this one again, and nothing is lost"
DOUBTS = "what it leaves in doubt is counted: BulksmsDoubtsGrowing fires if it is much"
RESUMES = "it resumes by itself, within seconds"
HARMLESS = "it changes nothing that is sent, recorded or charged"

NO_ALERT_FOR: dict[str, str] = {
    **dict.fromkeys(("F01", "F02", "F03", "F05", "F06", "F07", "F10", "F11", "F13", "F59", "F66"), OTHERS_GO_ON),
    **dict.fromkeys(("F08", "F09", "F42"), DOUBTS),
    **dict.fromkeys(("F27", "F32", "F65"), RESUMES),
    **dict.fromkeys(("F17", "F18", "F21", "F22", "F23", "F24"), "Redis holds nothing that workers cannot do without"),
    **dict.fromkeys(("F48", "F49", "F50", "F51", "F53", "F54", "F55", "F58"), HARMLESS),
    "F12": "the workers of a carrier share its rate, however many they are",
    "F34": "there is no SQLite in this service",
    "F38": "after a change of the schema by hand the processes refuse to start, and say why",
    "F44": "late responses resolve their doubts; BulksmsDoubtsGrowing fires if they are many",
}
