extension GalleryWriter {
  /// Records a run whose report was delivered.
  func ended(_ reporting: JobRun.Reporting, _ outcome: JobOutcome) {
    let plan = reporting.plan
    // The page shows what a later run says of the job.
    guard outcome.state != .superseded else { return }
    if plan.report != nil, !plan.run.isInHistory { check(plan.run.job) }
    ended(
      EndedRun(
        name: plan.run.job, runID: plan.run.runID, outcome: outcome, started: plan.manifest.accepted,
        isInHistory: plan.run.isInHistory))
  }
}
